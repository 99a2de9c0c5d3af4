package io.tabletrelay.harness.store;

import io.tabletrelay.core.Relay;
import io.tabletrelay.core.config.DeliveryConfig;
import io.tabletrelay.core.config.HttpConfig;
import io.tabletrelay.core.config.RelayConfig;
import io.tabletrelay.core.config.ServerConfig;
import io.tabletrelay.core.config.StoreConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/**
 * A relay with the smallest segments, so that they roll often, and a window of the test's choice.
 *
 * <p>Arguments: data folder, window.
 *
 * <p>Threading: confined to the main thread.
 */
final class SmallSegments {
    private static final long RESERVE_BYTES = 8 << 20;

    private SmallSegments() {}

    public static void main(String[] arguments) throws InterruptedException {
        RelayConfig defaults = RelayConfig.defaults(Path.of(arguments[0]));
        ServerConfig server = defaults.server();
        DeliveryConfig delivery = defaults.delivery();
        Relay relay = Relay.start(new RelayConfig(
                defaults.dataDirectory(),
                Duration.ofMillis(200),
                new ServerConfig(
                        server.host(),
                        0,
                        server.maxConnections(),
                        server.handshakeTimeout(),
                        server.heartbeat(),
                        server.heartbeatTimeout(),
                        server.maxUnsentBytes(),
                        server.slowConsumerTimeout()),
                new HttpConfig(defaults.http().host(), 0, defaults.http().maxRequestBytes()),
                new StoreConfig(
                        StoreConfig.LEAST_SEGMENT_BYTES, defaults.store().maxEventBytes(), 0, 0, RESERVE_BYTES),
                new DeliveryConfig(
                        Integer.parseInt(arguments[1]),
                        delivery.maxAckSpread(),
                        delivery.takeoverProbe(),
                        delivery.redelivery())));
        Runtime.getRuntime().addShutdownHook(new Thread(relay::close, "relay-stop"));
        System.out.println("ready ws=127.0.0.1:" + relay.wsPort() + " http=127.0.0.1:" + relay.httpPort());
        new CountDownLatch(1).await();
    }
}
