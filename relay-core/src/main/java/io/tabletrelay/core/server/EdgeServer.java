package io.tabletrelay.core.server;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.channels.ByteChannel;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.java_websocket.WebSocket;
import org.java_websocket.WebSocketAdapter;
import org.java_websocket.WebSocketImpl;
import org.java_websocket.WebSocketServerFactory;
import org.java_websocket.drafts.Draft;
import org.java_websocket.handshake.ClientHandshake;
import org.java_websocket.server.WebSocketServer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The library's server on a socket that is bound already, with connections of our own making.
 *
 * <p>Threading: created, started and ended by {@link EdgePort}; the library's selector thread accepts, its worker
 * threads decode. Used once.
 */
final class EdgeServer extends WebSocketServer {
    private static final Logger LOG = LoggerFactory.getLogger(EdgeServer.class);
    private static final int THREAD_START_MILLIS = 30_000;
    private static final int THREAD_END_MILLIS = 5_000;

    /** The kernel says that there is room only when a third is free: with a large one a slow reader would seem to read nothing. */
    private static final int SEND_BUFFER_BYTES = 256 << 10;

    private final Connection.Surroundings surroundings;
    private final BooleanSupplier full;
    private final BooleanSupplier stopping;
    private final Set<Connection> open = ConcurrentHashMap.newKeySet();
    private final CountDownLatch started = new CountDownLatch(1);
    private volatile @Nullable Exception startFailure;
    private volatile @Nullable Thread selectorThread;
    private volatile boolean ending;

    /**
     * @param full whether a socket more would be too many
     * @param stopping whether handshakes are answered with 503
     */
    EdgeServer(
            ServerSocketChannel bound,
            Connection.Surroundings surroundings,
            BooleanSupplier full,
            BooleanSupplier stopping) {
        super(bound);
        this.surroundings = surroundings;
        this.full = full;
        this.stopping = stopping;
        setReuseAddr(true);
        setTcpNoDelay(true);
        setConnectionLostTimeout(0);
        setWebSocketFactory(new ConnectionFactory());
    }

    /** Every accepted socket that is not closed yet, those in their handshake included. */
    Collection<Connection> open() {
        return open;
    }

    /** Waits until the library's threads run; returns what kept them from it, or null. */
    @Nullable
    Exception startAndWait() throws InterruptedException {
        start();
        if (!started.await(THREAD_START_MILLIS, TimeUnit.MILLISECONDS)) {
            return new IOException("the selector thread did not start");
        }
        return startFailure;
    }

    /** False once the selector thread has ended: nobody serves its sockets any more. */
    boolean running() {
        Thread selecting = selectorThread;
        return selecting != null && selecting.isAlive();
    }

    /** Cuts what is still open and ends all threads; the port is free when this returns. */
    void end() throws InterruptedException {
        ending = true;
        open.forEach(c -> c.cut(0, "the relay is stopping"));
        try {
            stop(THREAD_END_MILLIS);
        } catch (ClosedSelectorException e) {
            LOG.debug("the selector was closed first", e);
        }
        open.forEach(c -> c.cut(0, "the relay is stopping"));
        for (WebSocketWorker worker : decoders) {
            worker.interrupt();
            worker.join(THREAD_END_MILLIS);
        }
    }

    @Override
    public void run() {
        selectorThread = Thread.currentThread();
        super.run();
    }

    /**
     * After a fault on its selector thread the library stops itself from there, and would wait for ever for the thread
     * it is on. That thread ends right after this call.
     */
    @Override
    public void stop(int timeoutMillis, String reason) throws InterruptedException {
        if (Thread.currentThread() != selectorThread) {
            super.stop(timeoutMillis, reason);
        }
    }

    @Override
    public void onStart() {
        try {
            // A buffer for every worker at once: the library adds them one by one, and its selector thread waits for
            // them.
            for (int i = 0; i < 2 * decoders.size() + 1; i++) {
                allocateBuffers(null);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        started.countDown();
    }

    @Override
    public void onOpen(WebSocket socket, ClientHandshake request) {
        Connection connection = ((EdgeSocket) socket).connection();
        connection.opened();
        if (!connection.channel().isOpen()) {
            removeConnection(socket); // closed during its handshake: the library added it after it had removed it
        }
    }

    /** The channel's end is what counts: there are ends that the library does not report. */
    @Override
    public void onClose(WebSocket socket, int code, String reason, boolean remote) {
        LOG.debug("connection closed: code={}, remote={}; {}", code, remote, reason);
    }

    @Override
    public void onMessage(WebSocket socket, String text) {
        throw new IllegalStateException("frames go to the connection, not to the library");
    }

    @Override
    public void onError(@Nullable WebSocket socket, Exception e) {
        if (started.getCount() > 0) {
            startFailure = e;
            started.countDown();
        } else {
            LOG.error("the library's server reports a fault", e);
        }
    }

    private final class ConnectionFactory implements WebSocketServerFactory {
        @Override
        public WebSocketImpl createWebSocket(WebSocketAdapter listener, Draft draft) {
            return createWebSocket(listener, List.of());
        }

        @Override
        public WebSocketImpl createWebSocket(WebSocketAdapter listener, List<Draft> drafts) {
            return new EdgeSocket(listener, new EdgeDraft(stopping, surroundings.events()));
        }

        /** Throws, with the socket closed, if it cannot be kept: that is how the library lets a socket be refused. */
        @Override
        public ByteChannel wrapChannel(SocketChannel accepted, SelectionKey key) throws IOException {
            try {
                if (!ending && !full.getAsBoolean()) {
                    return connect(accepted, key);
                }
                surroundings.events().connectionRefused();
                accepted.close();
            } catch (IOException e) {
                accepted.close();
                throw e;
            } catch (Throwable t) { // errors too: they would end the selector thread
                accepted.close();
                surroundings.log().fault("a socket is not taken by a fault of the relay", t);
            }
            throw new IOException("socket not taken: open=" + open.size());
        }

        private ByteChannel connect(SocketChannel accepted, SelectionKey key) throws IOException {
            accepted.setOption(StandardSocketOptions.SO_SNDBUF, SEND_BUFFER_BYTES);
            EdgeSocket socket = (EdgeSocket) key.attachment();
            Connection connection = new Connection(surroundings, accepted, key, socket, open::remove);
            socket.attach(connection);
            open.add(connection);
            return connection.channel();
        }

        @Override
        public void close() {
            // nothing to close
        }
    }
}
