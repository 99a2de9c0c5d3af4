package io.tabletrelay.core.server;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.ServerConfig;
import io.tabletrelay.core.pipe.Pipe;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.java_websocket.framing.CloseFrame;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The WebSocket port: consumers bind pipes here, and producers publish to them.
 *
 * <p>Threading: created, started and stopped by one thread; the port and the number of connections may be read by any.
 * Its threads are the library's, one timer and one for answers; {@link #stop} ends them, the last one ends of itself.
 */
public final class RelayServer {
    private static final Logger LOG = LoggerFactory.getLogger(RelayServer.class);
    private static final long CLOSE_POLL_MILLIS = 5;
    private static final long MAX_TICK_MILLIS = 1_000;
    private static final long MIN_TICK_MILLIS = 10;
    /** How often the shortest timeout is looked at while it runs. */
    private static final int TICKS_PER_TIMEOUT = 10;

    private final ServerConfig config;
    private final Connection.Surroundings surroundings;
    private volatile @Nullable Running running;

    private record Running(EdgePort port, ScheduledExecutorService timer) {}

    /**
     * @param pipes gives the pipe of a name, made on first use; throws RelayException if there can be none
     * @param intake takes what producers send
     * @param nanoTime {@code System.nanoTime()}, or a test's clock
     */
    public RelayServer(
            ServerConfig config,
            Function<PipeName, Pipe> pipes,
            EventIntake intake,
            EdgeEvents events,
            LongSupplier nanoTime) {
        this.config = config;
        this.surroundings = new Connection.Surroundings(
                config,
                pipes,
                events,
                nanoTime,
                new ClientLog(nanoTime),
                new SlowConsumers(),
                intake,
                new Producers(),
                answers());
    }

    /** One thread that tells producers what became of their events; it ends when there was nothing to tell for a second. */
    private static Executor answers() {
        ThreadPoolExecutor executor =
                new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = Executors.defaultThreadFactory().newThread(task);
                    thread.setName("ws-answers");
                    thread.setDaemon(true);
                    return thread;
                });
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }

    /** Listens when this returns; throws RelayException with {@link ErrorCode#CANNOT_START} if it cannot. */
    public void start() {
        try {
            InetSocketAddress address = new InetSocketAddress(config.host(), config.port());
            if (address.isUnresolved()) {
                throw new IOException("unknown host");
            }
            EdgePort port = new EdgePort(surroundings, address, OpenFiles.connections(config.maxConnections()));
            running = new Running(port, startTimer(port));
        } catch (Exception e) {
            if (e instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            throw cannotStart(e);
        }
    }

    private RelayException cannotStart(Exception cause) {
        return new RelayException(
                ErrorCode.CANNOT_START,
                "cannot listen for WebSockets: address=" + config.host() + ":" + config.port() + ", cause="
                        + cause.getMessage()
                        + "; is another relay running? choose a port with --ws-port, 0 picks a free one",
                cause);
    }

    private ScheduledExecutorService startTimer(EdgePort port) {
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread thread = Executors.defaultThreadFactory().newThread(task);
            thread.setName("ws-timer");
            thread.setDaemon(true);
            return thread;
        });
        long tickMillis = tickMillis();
        var unused = timer.scheduleWithFixedDelay(() -> tick(port), tickMillis, tickMillis, TimeUnit.MILLISECONDS);
        return timer;
    }

    private long tickMillis() {
        long shortest = Stream.of(config.handshakeTimeout(), config.heartbeat(), config.slowConsumerTimeout())
                .mapToLong(Duration::toMillis)
                .min()
                .orElseThrow();
        return Math.max(MIN_TICK_MILLIS, Math.min(MAX_TICK_MILLIS, shortest / TICKS_PER_TIMEOUT));
    }

    private void tick(EdgePort port) {
        for (Connection connection : port.connections()) {
            try {
                connection.tick(surroundings.nanoTime().getAsLong());
            } catch (Throwable t) { // errors too: the timer would never run again
                LOG.error("a connection could not be looked after: peer={}", connection.peer(), t);
            }
        }
        try {
            port.heal(surroundings.nanoTime().getAsLong());
        } catch (Throwable t) { // errors too
            LOG.error("the WebSocket port could not be looked after: port={}", port.port(), t);
        }
    }

    /** The port that is listened on, also where the configuration said 0. */
    public int port() {
        Running now = running;
        if (now == null) {
            throw new IllegalStateException("the server is not started");
        }
        return now.port().port();
    }

    /**
     * True while new sockets are accepted: from start to stop, but for the moments after the system refused a socket
     * (too many open files).
     */
    public boolean listening() {
        Running now = running;
        return now != null && now.port().listening();
    }

    /** Sockets that are open, those in their handshake included. */
    public int connections() {
        Running now = running;
        return now == null ? 0 : now.port().open();
    }

    /** Bytes that wait for the connection for which most of them do. */
    public long mostUnsentBytes() {
        Running now = running;
        return now == null
                ? 0
                : now.port().connections().stream()
                        .mapToLong(Connection::unsentBytes)
                        .max()
                        .orElse(0);
    }

    /**
     * Closes every connection with 1012, reads acks until each peer has answered or the deadline is over, then frees
     * the port and ends all threads. May be started again.
     */
    public void stop(Duration deadline) {
        Running now = running;
        if (now == null) {
            return;
        }
        running = null;
        long end = System.nanoTime() + deadline.toNanos();
        now.port().refuseNewcomers();
        try {
            while (closeAll(now.port()) && System.nanoTime() < end) {
                TimeUnit.MILLISECONDS.sleep(CLOSE_POLL_MILLIS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        now.timer().shutdownNow();
        now.port().end();
    }

    /** False once there is none left to be closed. Some become open only now: their handshake was done before. */
    private static boolean closeAll(EdgePort port) {
        List<Connection> opened =
                port.connections().stream().filter(Connection::isWebSocket).toList();
        opened.stream()
                .filter(connection -> !connection.isClosing())
                .forEach(connection -> connection.close(CloseFrame.SERVICE_RESTART, "the relay is stopping"));
        return !opened.isEmpty();
    }
}
