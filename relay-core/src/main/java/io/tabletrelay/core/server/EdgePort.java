package io.tabletrelay.core.server;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The port, listened on again whenever it was lost: the library closes its listener for good if the system refuses it a
 * socket (too many open files), or if its selector thread ends. Connections of a lost listener are served until they
 * end where its selector thread still runs, and are cut otherwise.
 *
 * <p>Threading: opened by one thread, {@link #heal}ed by the timer and ended by any, under a lock; all else may be
 * asked by any.
 */
final class EdgePort {
    private static final Logger LOG = LoggerFactory.getLogger(EdgePort.class);
    private static final int BACKLOG = 1024;
    private static final long RETRY_NANOS = 1_000_000_000L;

    private record Listening(ServerSocketChannel listener, EdgeServer edge) {
        boolean lives() {
            return listener.isOpen() && edge.running();
        }
    }

    private final Connection.Surroundings surroundings;
    private final int maxConnections;
    private final InetSocketAddress address;
    private final List<EdgeServer> edges = new CopyOnWriteArrayList<>();
    private volatile Listening now;
    private volatile boolean stopping;
    private boolean lost;
    private long triedNanos;

    /** Listens when this returns; throws what kept it from that. */
    EdgePort(Connection.Surroundings surroundings, InetSocketAddress asked, int maxConnections) throws Exception {
        this.surroundings = surroundings;
        this.maxConnections = maxConnections;
        now = listen(asked);
        address = (InetSocketAddress) now.listener().getLocalAddress();
    }

    private Listening listen(InetSocketAddress where) throws Exception {
        ServerSocketChannel listener = bind(where);
        EdgeServer edge = new EdgeServer(listener, surroundings, () -> open() >= maxConnections, () -> stopping);
        edges.add(edge);
        boolean started = false;
        try {
            Exception failure = edge.startAndWait();
            if (failure != null) {
                throw failure;
            }
            started = true;
            return new Listening(listener, edge);
        } finally {
            if (!started) {
                end(edge);
                closeQuietly(listener);
            }
        }
    }

    private static ServerSocketChannel bind(InetSocketAddress where) throws IOException {
        ServerSocketChannel listener = ServerSocketChannel.open();
        try {
            listener.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            listener.bind(where, BACKLOG);
            return listener;
        } catch (IOException e) {
            closeQuietly(listener);
            throw e;
        }
    }

    private static void closeQuietly(ServerSocketChannel listener) {
        try {
            listener.close();
        } catch (IOException e) {
            LOG.debug("a socket that was listened on could not be closed", e);
        }
    }

    int port() {
        return address.getPort();
    }

    boolean listening() {
        return now.lives();
    }

    /** Every socket that is not closed yet, those of a lost listener and those in their handshake included. */
    List<Connection> connections() {
        return edges.stream().map(EdgeServer::open).flatMap(Collection::stream).toList();
    }

    /** How many those are. */
    int open() {
        return edges.stream().mapToInt(edge -> edge.open().size()).sum();
    }

    /** From now on handshakes are answered with 503, and a lost port stays lost. */
    void refuseNewcomers() {
        stopping = true;
    }

    /** A moment of the timer. */
    synchronized void heal(long nowNanos) {
        for (EdgeServer edge : edges) {
            boolean former = edge != now.edge() || !now.lives();
            if (former && (edge.open().isEmpty() || !edge.running())) {
                end(edge);
            }
        }
        if (stopping || now.lives()) {
            return;
        }
        if (!lost) {
            lost = true;
            LOG.warn(
                    "the WebSocket port listens no more: port={}; are there too many open files? "
                            + "it is tried again each second",
                    port());
        } else if (nowNanos - triedNanos < RETRY_NANOS) {
            return;
        }
        triedNanos = nowNanos;
        listenAgain();
    }

    private void listenAgain() {
        closeQuietly(now.listener());
        try {
            now = listen(address);
            lost = false;
            LOG.info("the WebSocket port listens again: port={}", port());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (Exception e) {
            LOG.debug("the WebSocket port cannot be listened on yet: port={}", port(), e);
        }
    }

    /** Cuts what is still open and ends all threads; the port is free when this returns. */
    synchronized void end() {
        stopping = true;
        edges.forEach(this::end);
        closeQuietly(now.listener());
    }

    /** Even where the caller is interrupted: threads and sockets left behind would be worse than some milliseconds. */
    private void end(EdgeServer edge) {
        boolean interrupted = Thread.interrupted();
        try {
            edge.end();
        } catch (InterruptedException e) {
            interrupted = true;
        }
        edges.remove(edge);
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
