package io.tabletrelay.core.config;

import java.nio.file.Path;
import java.time.Duration;

/**
 * Everything a relay is started with.
 *
 * @param dataDirectory where pipes live; created if it is not there
 * @param drainTimeout how long a stopping relay goes on taking acks
 * @param quota what the consumers of all pipes may have together
 * @param maxOpenPipes from so many on, pipes that have nothing to do are closed until they are used again
 */
public record RelayConfig(
        Path dataDirectory,
        Duration drainTimeout,
        ServerConfig server,
        HttpConfig http,
        StoreConfig store,
        DeliveryConfig delivery,
        TransferQuotaConfig quota,
        int maxOpenPipes) {
    public static final int DEFAULT_MAX_OPEN_PIPES = 2_000;

    public RelayConfig {
        if (maxOpenPipes < 1) {
            throw new IllegalArgumentException("max-open-pipes=" + maxOpenPipes + " must be at least 1");
        }
    }

    /** With the defaults of what all pipes may have together. */
    public RelayConfig(
            Path dataDirectory,
            Duration drainTimeout,
            ServerConfig server,
            HttpConfig http,
            StoreConfig store,
            DeliveryConfig delivery) {
        this(
                dataDirectory,
                drainTimeout,
                server,
                http,
                store,
                delivery,
                TransferQuotaConfig.DEFAULT,
                DEFAULT_MAX_OPEN_PIPES);
    }

    /** The embedded defaults, with everything under one folder. */
    public static RelayConfig defaults(Path dataDirectory) {
        return new RelayConfig(
                dataDirectory,
                Duration.ofSeconds(5),
                ServerConfig.DEFAULT,
                HttpConfig.DEFAULT,
                StoreConfig.DEFAULT,
                DeliveryConfig.DEFAULT);
    }
}
