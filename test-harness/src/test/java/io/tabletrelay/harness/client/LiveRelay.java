package io.tabletrelay.harness.client;

import io.tabletrelay.core.Relay;
import io.tabletrelay.core.config.HttpConfig;
import io.tabletrelay.core.config.RelayConfig;
import io.tabletrelay.core.config.ServerConfig;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;

/**
 * A relay in this process, on free ports.
 *
 * <p>Threading: thread-safe, but closed by the test's thread.
 */
final class LiveRelay implements AutoCloseable {
    private final Relay relay;
    private final int wsPort;

    private LiveRelay(Relay relay) {
        this.relay = relay;
        wsPort = relay.wsPort();
    }

    /** Starts one; at port 0 it takes any. */
    static LiveRelay start(Path data, int wsPort) {
        RelayConfig defaults = RelayConfig.defaults(data);
        ServerConfig server = defaults.server();
        return new LiveRelay(Relay.start(new RelayConfig(
                data,
                Duration.ofMillis(200),
                new ServerConfig(
                        server.host(),
                        wsPort,
                        server.maxConnections(),
                        server.handshakeTimeout(),
                        server.heartbeat(),
                        server.heartbeatTimeout(),
                        server.maxUnsentBytes(),
                        server.slowConsumerTimeout()),
                new HttpConfig(defaults.http().host(), 0, defaults.http().maxRequestBytes()),
                defaults.store(),
                defaults.delivery())));
    }

    int wsPort() {
        return wsPort;
    }

    URI address() {
        return URI.create("ws://127.0.0.1:" + wsPort + "/");
    }

    @Override
    public void close() {
        relay.close();
    }
}
