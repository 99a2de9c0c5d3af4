package io.tabletrelay.core.server;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.ServerConfig;
import io.tabletrelay.core.pipe.Pipe;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.LoggerFactory;

/**
 * A running edge with stub pipes behind it, what it counted and what it logged.
 *
 * <p>Threading: thread-safe.
 */
final class EdgeRig implements AutoCloseable {
    /** Timeouts that no test reaches by accident. */
    static final ServerConfig PATIENT = new ServerConfig(
            "127.0.0.1",
            0,
            2_000,
            Duration.ofSeconds(60),
            Duration.ofSeconds(20),
            Duration.ofSeconds(60),
            1 << 20,
            Duration.ofSeconds(60));

    final Counts counts = new Counts();
    final StubIntake intake = new StubIntake();
    final RelayServer server;
    /** Lines at INFO and above. */
    final List<String> logged = new CopyOnWriteArrayList<>();

    private final Map<PipeName, StubPipe> pipes = new ConcurrentHashMap<>();
    private final Logger rootLogger = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    private final Logger serverLogger = (Logger) LoggerFactory.getLogger("io.tabletrelay.core.server");
    private final AppenderBase<ILoggingEvent> capture = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            logged.add(event.getLevel() + " " + event.getFormattedMessage());
        }
    };

    EdgeRig(ServerConfig config) {
        capture.setContext(rootLogger.getLoggerContext());
        capture.start();
        rootLogger.addAppender(capture);
        serverLogger.setLevel(Level.INFO);
        server = new RelayServer(config, this::find, intake, counts, System::nanoTime);
        server.start();
    }

    static EdgeRig start() {
        return new EdgeRig(PATIENT);
    }

    StubPipe pipe(String name) {
        return pipes.computeIfAbsent(new PipeName(name), StubPipe::new);
    }

    private Pipe find(PipeName name) {
        if (name.value().equals("failed")) {
            throw new RelayException(ErrorCode.PIPE_FAILED, "pipe cannot be used: pipe=failed; see its log");
        }
        return pipe(name.value());
    }

    int port() {
        return server.port();
    }

    /** What a client can cause is expected in some tests; they take it out before the end. */
    void forgetLogged() {
        logged.clear();
    }

    @Override
    public void close() {
        server.stop(Duration.ofMillis(200));
        rootLogger.detachAppender(capture);
        capture.stop();
    }

    static final class Counts implements EdgeEvents {
        final AtomicInteger connected = new AtomicInteger();
        final AtomicInteger disconnected = new AtomicInteger();
        final AtomicInteger connectionsRefused = new AtomicInteger();
        final AtomicInteger handshakesRefused = new AtomicInteger();
        final AtomicInteger malformedLines = new AtomicInteger();
        final AtomicInteger bindsFailed = new AtomicInteger();
        final AtomicInteger answersDropped = new AtomicInteger();
        final AtomicInteger slowCut = new AtomicInteger();
        final AtomicInteger silentCut = new AtomicInteger();

        @Override
        public void connected() {
            connected.incrementAndGet();
        }

        @Override
        public void disconnected() {
            disconnected.incrementAndGet();
        }

        @Override
        public void connectionRefused() {
            connectionsRefused.incrementAndGet();
        }

        @Override
        public void handshakeRefused() {
            handshakesRefused.incrementAndGet();
        }

        @Override
        public void malformedLine() {
            malformedLines.incrementAndGet();
        }

        @Override
        public void bindFailed() {
            bindsFailed.incrementAndGet();
        }

        @Override
        public void earlyAnswerDropped() {
            answersDropped.incrementAndGet();
        }

        @Override
        public void slowConsumerCut() {
            slowCut.incrementAndGet();
        }

        @Override
        public void silentPeerCut() {
            silentCut.incrementAndGet();
        }
    }
}
