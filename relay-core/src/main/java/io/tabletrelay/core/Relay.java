package io.tabletrelay.core;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.Publisher;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.RelayConfig;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.CompletableFuture;

/**
 * A relay without an engine: it only holds its ports.
 *
 * <p>Threading: thread-safe.
 */
public final class Relay implements AutoCloseable {
    private final ServerSocket ws;
    private final ServerSocket http;

    private Relay(ServerSocket ws, ServerSocket http) {
        this.ws = ws;
        this.http = http;
    }

    public static Relay start(RelayConfig config) {
        return new Relay(
                listen(config.server().host(), config.server().port()),
                listen(config.http().host(), config.http().port()));
    }

    private static ServerSocket listen(String host, int port) {
        try {
            return new ServerSocket(port, 0, InetAddress.getByName(host));
        } catch (IOException e) {
            throw new RelayException(
                    ErrorCode.CANNOT_START, "cannot listen: address=" + host + ":" + port + "; is the port taken?", e);
        }
    }

    public int wsPort() {
        return ws.getLocalPort();
    }

    public int httpPort() {
        return http.getLocalPort();
    }

    public Publisher publisher() {
        return (pipe, sourceType, options, bytes, sequence) -> CompletableFuture.failedFuture(
                new RelayException(ErrorCode.NO_SERIALIZER, "no serializer: type=" + sourceType));
    }

    @Override
    public void close() {
        try {
            ws.close();
            http.close();
        } catch (IOException e) {
            throw new RelayException(ErrorCode.INTERNAL, "cannot close the ports", e);
        }
    }
}
