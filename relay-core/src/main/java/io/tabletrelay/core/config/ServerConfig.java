package io.tabletrelay.core.config;

import java.time.Duration;

/**
 * The WebSocket edge.
 *
 * @param host address to listen on
 * @param port 0 picks a free one
 * @param maxConnections most open sockets, those in their handshake included
 * @param handshakeTimeout time a socket has to become a WebSocket
 * @param heartbeat how often each peer is pinged
 * @param heartbeatTimeout silence after which a peer is closed
 * @param maxUnsentBytes most bytes handed to one socket and not yet written
 * @param slowConsumerTimeout how long those may stand without one byte moving before the consumer is closed with 4008
 */
public record ServerConfig(
        String host,
        int port,
        int maxConnections,
        Duration handshakeTimeout,
        Duration heartbeat,
        Duration heartbeatTimeout,
        int maxUnsentBytes,
        Duration slowConsumerTimeout) {
    public static final ServerConfig DEFAULT = new ServerConfig(
            "127.0.0.1",
            7070,
            10_000,
            Duration.ofSeconds(10),
            Duration.ofSeconds(10),
            Duration.ofSeconds(30),
            1 << 20,
            Duration.ofSeconds(30));

    public ServerConfig {
        if (port < 0 || port > 65_535) {
            throw new IllegalArgumentException("ws-port=" + port + " must be from 0 to 65535");
        }
        if (heartbeatTimeout.compareTo(heartbeat.multipliedBy(2)) <= 0) {
            throw new IllegalArgumentException("heartbeat-timeout=" + heartbeatTimeout
                    + " must be more than twice heartbeat=" + heartbeat + ", or live consumers would be closed");
        }
        if (maxConnections < 1 || maxUnsentBytes < 1) {
            throw new IllegalArgumentException(
                    "max-connections=" + maxConnections + " and max-unsent=" + maxUnsentBytes + " must be 1 or more");
        }
    }
}
