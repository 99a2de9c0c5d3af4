package io.tabletrelay.harness.edge;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.java_websocket.client.WebSocketClient;
import org.java_websocket.handshake.ServerHandshake;

/** The libraries that consumers are written with. */
enum ClientKind {
    JAVA_WEBSOCKET {
        @Override
        AutoCloseable connect(int port, List<Consumed> consumers) throws Exception {
            for (Consumed consumer : consumers) {
                if (!new LibraryClient(port, consumer).connectBlocking(30, TimeUnit.SECONDS)) {
                    throw new IllegalStateException("not connected: pipe=" + consumer.pipe());
                }
            }
            return () -> {};
        }
    },
    JAVA_NET_HTTP {
        @Override
        AutoCloseable connect(int port, List<Consumed> consumers) throws Exception {
            HttpClient client = HttpClient.newHttpClient();
            for (Consumed consumer : consumers) {
                client.newWebSocketBuilder()
                        .buildAsync(uri(port), new JdkListener(consumer))
                        .get(30, TimeUnit.SECONDS);
            }
            return () -> {};
        }
    },
    NODE_WS {
        @Override
        AutoCloseable connect(int port, List<Consumed> consumers) throws Exception {
            return new NodeClients(port, consumers);
        }
    };

    /** Connects each of them and sends its BIND. */
    abstract AutoCloseable connect(int port, List<Consumed> consumers) throws Exception;

    private static URI uri(int port) {
        return URI.create("ws://127.0.0.1:" + port + "/");
    }

    private static final class LibraryClient extends WebSocketClient {
        private final Consumed consumer;

        LibraryClient(int port, Consumed consumer) {
            super(uri(port));
            this.consumer = consumer;
            setConnectionLostTimeout(0);
            setDaemon(true);
        }

        @Override
        public void onOpen(ServerHandshake answer) {
            consumer.connected(line -> {
                if (isOpen()) {
                    send(line);
                }
            });
        }

        @Override
        public void onMessage(String line) {
            consumer.line(line);
        }

        @Override
        public void onMessage(ByteBuffer event) {
            consumer.event(event);
            consumer.readsOn().join();
        }

        @Override
        public void onClose(int code, String reason, boolean remote) {
            consumer.closed(code);
        }

        @Override
        public void onError(Exception e) {
            consumer.failed(e.toString());
        }
    }

    /** Puts the parts of a message together, and never sends two lines at a time. */
    private static final class JdkListener implements WebSocket.Listener {
        private final Consumed consumer;
        private ByteBuffer parts = ByteBuffer.allocate(1024);
        private CompletableFuture<?> sending = CompletableFuture.completedFuture(null);

        JdkListener(Consumed consumer) {
            this.consumer = consumer;
        }

        @Override
        public void onOpen(WebSocket socket) {
            socket.request(1);
            consumer.connected(line -> send(socket, line));
        }

        private synchronized void send(WebSocket socket, String line) {
            sending = sending.handle((done, failure) -> socket)
                    .thenCompose(next ->
                            next.isOutputClosed() ? CompletableFuture.completedFuture(next) : next.sendText(line, true))
                    .exceptionally(closedMeanwhile -> socket);
        }

        @Override
        public CompletionStage<?> onText(WebSocket socket, CharSequence line, boolean last) {
            consumer.line(line.toString());
            socket.request(1);
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public CompletionStage<?> onBinary(WebSocket socket, ByteBuffer part, boolean last) {
            if (parts.remaining() < part.remaining()) {
                parts = ByteBuffer.allocate(2 * (parts.position() + part.remaining()))
                        .put(parts.flip());
            }
            parts.put(part);
            if (last) {
                consumer.event(parts.flip());
                parts.clear();
                var unused = consumer.readsOn().thenRun(() -> socket.request(1));
            } else {
                socket.request(1);
            }
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
            consumer.closed(code);
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public void onError(WebSocket socket, Throwable e) {
            consumer.failed(e.toString());
        }
    }
}
