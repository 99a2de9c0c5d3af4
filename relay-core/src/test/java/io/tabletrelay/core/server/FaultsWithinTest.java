package io.tabletrelay.core.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.tabletrelay.core.config.ServerConfig;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is thrown inside the edge, on whichever of its threads, must cost no more than a connection, or a moment. */
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FaultsWithinTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final int MAX_CONNECTIONS = 20;
    private static final ServerConfig CONFIG = new ServerConfig(
            "127.0.0.1",
            0,
            MAX_CONNECTIONS,
            Duration.ofSeconds(60),
            Duration.ofSeconds(20),
            Duration.ofSeconds(60),
            1 << 20,
            Duration.ofSeconds(60));

    private final AtomicReference<@Nullable Throwable> fault = new AtomicReference<>();

    /** A clock that throws the fault once, when the selector thread asks it from within this method. */
    private LongSupplier timeThatThrowsIn(String method) {
        return () -> {
            if (fault.get() != null
                    && Thread.currentThread().getName().startsWith("WebSocketSelector")
                    && StackWalker.getInstance()
                            .walk(frames -> frames.anyMatch(
                                    frame -> frame.getMethodName().equals(method)))) {
                throwIfAny(fault.getAndSet(null));
            }
            return System.nanoTime();
        };
    }

    private static void throwIfAny(@Nullable Throwable thrown) {
        if (thrown != null) {
            FaultsWithinTest.<RuntimeException>sneak(thrown);
        }
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <T extends Throwable> void sneak(Throwable thrown) throws T {
        throw (T) thrown;
    }

    private RelayServer server(EdgeEvents events, LongSupplier nanoTime) {
        RelayServer server = new RelayServer(CONFIG, StubPipe::new, new StubIntake(), events, nanoTime);
        server.start();
        return server;
    }

    @ParameterizedTest
    @ValueSource(classes = {IllegalStateException.class, StackOverflowError.class, OutOfMemoryError.class})
    void aFaultOnTheSelectorThreadEndsItsConnectionsAndThePortListensAgain(Class<? extends Throwable> type)
            throws Exception {
        Set<Thread> before = selectorThreads();
        RelayServer server = server(EdgeEvents.NONE, timeThatThrowsIn("bytesRead"));
        try (RawClient client = RawClient.bound(server.port(), "p")) {
            fault.set(type.getConstructor().newInstance());
            client.line("ACK:1");
            await().atMost(PATIENCE).dontCatchUncaughtExceptions().until(() -> !server.listening());

            assertThat(client.atEnd()).isTrue();
            try (RawClient next = connected(server.port())) {
                next.sync();
                Set<Thread> now = selectorThreads();
                now.removeAll(before);
                assertThat(now).as("the thread with the fault has ended").hasSize(1);
            }
        } finally {
            server.stop(Duration.ZERO);
        }
    }

    private static Set<Thread> selectorThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("WebSocketSelector"))
                .collect(Collectors.toSet());
    }

    private static RawClient connected(int port) {
        return await().atMost(PATIENCE)
                .dontCatchUncaughtExceptions()
                .ignoreExceptionsInstanceOf(IOException.class)
                .until(() -> RawClient.bound(port, "p"), client -> true);
    }

    @ParameterizedTest
    @ValueSource(classes = {IllegalStateException.class, StackOverflowError.class, OutOfMemoryError.class})
    void aFaultWhileASocketIsAcceptedCostsThatSocket(Class<? extends Throwable> type) throws Exception {
        RelayServer server = server(EdgeEvents.NONE, timeThatThrowsIn("wrapChannel"));
        try (RawClient before = RawClient.bound(server.port(), "p")) {
            fault.set(type.getConstructor().newInstance());
            try (RawClient unlucky = RawClient.tcp(server.port())) {
                assertThat(unlucky.atEnd()).isTrue();
            }
            assertThat(fault).hasNullValue();

            before.sync();
            RawClient.bound(server.port(), "q").close();
        } finally {
            server.stop(Duration.ZERO);
        }
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                IllegalStateException.class,
                AssertionError.class,
                NoClassDefFoundError.class,
                StackOverflowError.class,
                OutOfMemoryError.class
            })
    void whatIsThrownInAnyCallbackCostsAConnectionAtMost(Class<? extends Throwable> type) throws Exception {
        EdgeEvents throwing = (EdgeEvents) Proxy.newProxyInstance(
                EdgeEvents.class.getClassLoader(), new Class<?>[] {EdgeEvents.class}, (proxy, method, arguments) -> {
                    throwIfAny(fault.get());
                    return null;
                });
        RelayServer server = server(throwing, System::nanoTime);
        List<RawClient> clients = new ArrayList<>();
        try (RawClient witness = RawClient.bound(server.port(), "witness")) {
            for (int i = 0; i < 4; i++) {
                clients.add(RawClient.bound(server.port(), "p" + i));
            }
            fault.set(type.getConstructor().newInstance());

            try (RawClient malformed = clients.get(0)) {
                malformed.line("what?");
                assertThat(malformed.expectClose().closeCode()).isEqualTo(1011);
            }
            clients.get(1).reset(); // disconnected
            try (RawClient refused = RawClient.tcp(server.port())) {
                refused.bytes("hello\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                refused.readToTheEnd();
            }
            try (RawClient connecting = RawClient.tcp(server.port())) {
                connecting.bytes(RawClient.request());
                connecting.httpAnswer();
            }
            refuseOneTooMany(server);
            fault.set(null);

            witness.sync();
            for (int i = 0; i < 10; i++) {
                connected(server.port()).close(); // every worker thread lives
            }
            assertThat(server.listening()).isTrue();
        } finally {
            for (RawClient client : clients) {
                client.close();
            }
            server.stop(Duration.ZERO);
        }
    }

    private static void refuseOneTooMany(RelayServer server) throws IOException {
        List<RawClient> idle = new ArrayList<>();
        for (int i = 0; i < MAX_CONNECTIONS; i++) {
            idle.add(RawClient.tcp(server.port()));
        }
        try (RawClient tooMany = RawClient.tcp(server.port())) {
            assertThat(tooMany.atEnd()).isTrue();
        }
        for (RawClient client : idle) {
            client.close();
        }
    }
}
