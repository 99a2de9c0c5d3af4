package io.tabletrelay.harness.bench.server;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.java_websocket.WebSocket;
import org.java_websocket.handshake.ClientHandshake;
import org.java_websocket.server.WebSocketServer;

/**
 * Java-WebSocket as its manual shows it, one {@code send(byte[])} an event, without a store.
 *
 * <p>Threading: as {@link ServedVariant} says.
 */
final class PlainVariant implements ServedVariant {
    private static final int STOP_MILLIS = 1_000;
    private static final int START_SECONDS = 30;

    private final Load load;
    private final Pusher pusher;
    private final Server server;

    PlainVariant(Load load) throws IOException, InterruptedException {
        this.load = load;
        this.pusher = new Pusher(load.windowEvents(), load.eventBytes());
        this.server = new Server(pusher);
        server.setTcpNoDelay(true);
        // the library may lose the wake-up for the last write before a pause; its next ping, at latest, sends it
        server.setConnectionLostTimeout(1);
        server.start();
        if (!server.started.await(START_SECONDS, TimeUnit.SECONDS)) {
            throw new IOException("plain server has not started: waited=" + START_SECONDS + " s");
        }
    }

    @Override
    public int wsPort() {
        return server.getPort();
    }

    @Override
    public void push(long events) {
        pusher.push(events);
    }

    @Override
    public void pace(int eventsPerSecond, long events) throws InterruptedException {
        new Pacer(eventsPerSecond, load.eventBytes()).send(events, pusher::offer);
    }

    @Override
    public long settled() {
        return pusher.settled();
    }

    @Override
    public void stop() throws InterruptedException {
        server.stop(STOP_MILLIS);
        pusher.stop();
    }

    private record SocketOutlet(WebSocket socket) implements Pusher.Outlet {
        @Override
        public void bound() {
            socket.send("READY");
        }

        @Override
        public void send(long id, ByteBuffer payload) {
            byte[] event = new byte[Long.BYTES + payload.remaining()];
            ByteBuffer.wrap(event).putLong(id).put(payload.duplicate());
            socket.send(event);
        }
    }

    /**
     * The library's server.
     *
     * <p>Threading: called by the library's threads.
     */
    private static final class Server extends WebSocketServer {
        private final Pusher pusher;
        private final CountDownLatch started = new CountDownLatch(1);

        Server(Pusher pusher) {
            super(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            this.pusher = pusher;
        }

        @Override
        public void onStart() {
            started.countDown();
        }

        @Override
        public void onOpen(WebSocket socket, ClientHandshake handshake) {}

        @Override
        public void onMessage(WebSocket socket, String line) {
            if (line.startsWith("ACK:") && Long.parseLong(line, 4, line.length(), 10) > 0) {
                pusher.acked();
            } else if (line.startsWith("BIND:")) {
                pusher.attach(new SocketOutlet(socket));
            }
        }

        @Override
        public void onClose(WebSocket socket, int code, String reason, boolean remote) {}

        @Override
        public void onError(WebSocket socket, Exception e) {
            System.err.println("bench: plain server has an error: " + e);
        }
    }
}
