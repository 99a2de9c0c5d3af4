package io.tabletrelay.core.config;

import java.nio.file.Path;
import java.time.Duration;

/**
 * Everything a relay is started with.
 *
 * @param dataDirectory where pipes live; created if it is not there
 * @param drainTimeout how long a stopping relay goes on taking acks
 */
public record RelayConfig(
        Path dataDirectory,
        Duration drainTimeout,
        ServerConfig server,
        HttpConfig http,
        StoreConfig store,
        DeliveryConfig delivery) {
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
