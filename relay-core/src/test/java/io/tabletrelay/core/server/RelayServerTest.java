package io.tabletrelay.core.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.ServerConfig;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.java_websocket.client.WebSocketClient;
import org.java_websocket.handshake.ServerHandshake;
import org.junit.jupiter.api.Test;

class RelayServerTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private static RelayServer server(int port) {
        ServerConfig config = new ServerConfig(
                "127.0.0.1",
                port,
                100,
                Duration.ofSeconds(60),
                Duration.ofSeconds(20),
                Duration.ofSeconds(60),
                1 << 20,
                Duration.ofSeconds(60));
        return new RelayServer(config, StubPipe::new, new StubIntake(), EdgeEvents.NONE, System::nanoTime);
    }

    @Test
    void aTakenPortIsNamedWithTheSettingThatChangesIt() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            RelayServer server = server(taken.getLocalPort());

            assertThatThrownBy(server::start)
                    .isInstanceOfSatisfying(
                            RelayException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CANNOT_START))
                    .hasMessageContaining("127.0.0.1:" + taken.getLocalPort())
                    .hasMessageContaining("--ws-port")
                    .hasMessageNotContaining("\n");
        }
    }

    @Test
    void aServerThatFoundItsPortTakenStartsOnceItIsFree() throws IOException {
        RelayServer server;
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            server = server(taken.getLocalPort());
            assertThatThrownBy(server::start).isInstanceOf(RelayException.class);
        }

        server.start();

        RawClient.bound(server.port(), "p").close();
        server.stop(Duration.ZERO);
    }

    @Test
    void twentyStartsOnOnePortLeaveNoThreadAndNoPort() throws IOException {
        Set<Thread> before = threads();
        RelayServer first = server(0);
        first.start();
        int port = first.port();
        first.stop(Duration.ZERO);

        for (int i = 0; i < 20; i++) {
            RelayServer server = server(port);
            server.start();
            try (RawClient client = RawClient.bound(port, "p")) {
                client.sync();

                server.stop(Duration.ZERO);

                client.readToTheEnd();
            }
        }

        await().atMost(PATIENCE).until(() -> {
            Set<Thread> left = threads();
            left.removeAll(before);
            return left.isEmpty();
        });
        new ServerSocket(port, 1, InetAddress.getLoopbackAddress()).close();
    }

    private static Set<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("WebSocket")
                        || thread.getName().startsWith("ws-")
                        || thread.getName().startsWith("connectionLost"))
                .collect(Collectors.toSet());
    }

    @Test
    void stoppingTwiceOrUnstartedIsNothing() {
        RelayServer server = server(0);
        server.stop(Duration.ZERO);
        server.start();
        boolean listened = server.listening();
        server.stop(Duration.ZERO);

        server.stop(Duration.ZERO);

        assertThat(listened).isTrue();
        assertThat(server.listening()).isFalse();
        assertThat(server.connections()).isZero();
    }

    @Test
    void aStoppingServerDeliversEverythingSaysWhyAndReadsLateAcks() throws Exception {
        try (EdgeRig rig = EdgeRig.start();
                RawClient client = RawClient.bound(rig.port(), "p")) {
            StubPipe.Link link = rig.pipe("p").link();
            for (int id = 1; id <= 300; id++) {
                link.sink.deliver(id, 0, 1, ByteBuffer.allocate(1_000), Map.of());
            }
            link.sink.flush();

            CompletableFuture<Void> stopped = CompletableFuture.runAsync(() -> rig.server.stop(PATIENCE));
            for (int id = 1; id <= 300; id++) {
                assertThat(client.expect(RawClient.BINARY).eventId()).isEqualTo(id);
            }
            RawClient.Frame close = client.expect(RawClient.CLOSE);
            for (int id = 1; id <= 300; id++) {
                client.line("ACK:" + id);
            }
            client.frame(RawClient.CLOSE, close.payload());

            assertThat(client.atEnd()).isTrue();
            assertThat(close.closeCode()).isEqualTo(1012);
            stopped.get(20, TimeUnit.SECONDS);
            assertThat(link.acks).hasSize(300);
            assertThat(link.gone).hasValue(1);
        }
    }

    @Test
    void newcomersAreTurnedAwayWhileStopping() throws Exception {
        try (EdgeRig rig = EdgeRig.start();
                RawClient client = RawClient.bound(rig.port(), "p")) {
            int port = rig.port();
            CompletableFuture<Void> stopped = CompletableFuture.runAsync(() -> rig.server.stop(PATIENCE));
            RawClient.Frame close = client.expect(RawClient.CLOSE);
            try (RawClient newcomer = RawClient.tcp(port)) {
                newcomer.bytes(RawClient.request());

                assertThat(newcomer.httpAnswer()).startsWith("HTTP/1.1 503 ");
                assertThat(newcomer.atEnd()).isTrue();
            }
            client.frame(RawClient.CLOSE, close.payload());
            stopped.get(20, TimeUnit.SECONDS);
        }
    }

    @Test
    void aPeerWhoseHandshakeWasUnderWayWhenTheStopBeganIsToldToo() throws Exception {
        AtomicBoolean slow = new AtomicBoolean();
        CountDownLatch handshaking = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        RelayServer server = new RelayServer(EdgeRig.PATIENT, StubPipe::new, new StubIntake(), EdgeEvents.NONE, () -> {
            if (slow.get()
                    && StackWalker.getInstance()
                            .walk(frames -> frames.anyMatch(
                                    frame -> frame.getMethodName().equals("opened")))) {
                handshaking.countDown();
                awaitLatch(goOn);
            }
            return System.nanoTime();
        });
        server.start();
        try (RawClient open = RawClient.bound(server.port(), "p");
                RawClient late = RawClient.tcp(server.port())) {
            slow.set(true);
            late.bytes(RawClient.request());
            awaitLatch(handshaking);
            CompletableFuture<Void> stopped = CompletableFuture.runAsync(() -> server.stop(PATIENCE.multipliedBy(3)));
            RawClient.Frame firstClose = open.expectClose();

            goOn.countDown();

            assertThat(late.httpAnswer()).startsWith("HTTP/1.1 101 ");
            RawClient.Frame close = late.expectClose();
            assertThat(close.closeCode()).isEqualTo(1012);
            late.frame(RawClient.CLOSE, close.payload());
            open.frame(RawClient.CLOSE, firstClose.payload());
            stopped.get(20, TimeUnit.SECONDS);
        }
    }

    private static void awaitLatch(CountDownLatch latch) {
        try {
            assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void peersThatDoNotAnswerHoldAStopNoLongerThanItsDeadline() throws IOException {
        EdgeRig rig = EdgeRig.start();
        try (RawClient deaf = RawClient.bound(rig.port(), "p");
                RawClient tcp = RawClient.tcp(rig.port())) {
            long start = System.nanoTime();

            rig.server.stop(Duration.ofMillis(300));

            assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(Duration.ofMillis(250), PATIENCE);
            assertThat(deaf.expectClose().closeCode()).isEqualTo(1012);
            assertThat(deaf.atEnd()).isTrue();
            assertThat(tcp.atEnd()).isTrue();
            assertThat(rig.pipe("p").link().gone).hasValue(1);
        }
        rig.close();
        assertThat(rig.logged).isEmpty();
    }

    @Test
    void theLibrarysOwnClientIsServedAndToldWhyItIsClosed() throws Exception {
        try (EdgeRig rig = EdgeRig.start()) {
            AtomicInteger events = new AtomicInteger();
            CompletableFuture<Integer> closeCode = new CompletableFuture<>();
            WebSocketClient client = client(rig.port(), events, closeCode);
            assertThat(client.connectBlocking(20, TimeUnit.SECONDS)).isTrue();
            client.send("BIND:p");
            await().atMost(PATIENCE).until(() -> rig.pipe("p").links.size() == 1);
            StubPipe.Link link = rig.pipe("p").link();

            for (int id = 1; id <= 1_000; id++) {
                link.sink.deliver(id, 0, 1, ByteBuffer.allocate(1_000), Map.of());
            }
            link.sink.flush();
            await().atMost(PATIENCE).until(() -> link.acks.size() == 1_000);
            link.sink.takenOver();

            assertThat(closeCode.get(20, TimeUnit.SECONDS)).isEqualTo(4409);
            assertThat(events).hasValue(1_000);
            await().atMost(PATIENCE).until(() -> link.gone.get() == 1);
            assertThat(rig.logged).isEmpty();
        }
    }

    private static WebSocketClient client(int port, AtomicInteger events, CompletableFuture<Integer> closeCode) {
        WebSocketClient client = new WebSocketClient(URI.create("ws://127.0.0.1:" + port + "/")) {
            @Override
            public void onOpen(ServerHandshake answer) {
                // nothing to say before BIND
            }

            @Override
            public void onMessage(String line) {
                assertThat(line).isEqualTo("READY");
            }

            @Override
            public void onMessage(ByteBuffer event) {
                events.incrementAndGet();
                send("ACK:" + event.getLong());
            }

            @Override
            public void onClose(int code, String reason, boolean remote) {
                closeCode.complete(code);
            }

            @Override
            public void onError(Exception e) {
                closeCode.completeExceptionally(e);
            }
        };
        client.setConnectionLostTimeout(0);
        return client;
    }

    @Test
    void noEventIsLeftLyingWhenAcksAndEventsCross() throws Exception {
        int rounds = 20_000;
        try (EdgeRig rig = EdgeRig.start();
                RawClient client = RawClient.bound(rig.port(), "p")) {
            StubPipe.Link link = rig.pipe("p").link();
            byte[] payload = new byte[64];
            Object turn = new Object();
            long[] acked = {0};
            link.onAck = id -> {
                synchronized (turn) {
                    acked[0] = id;
                    turn.notifyAll();
                }
            };
            CompletableFuture<Void> transfer = CompletableFuture.runAsync(() -> {
                for (int id = 1; id <= rounds; id++) {
                    link.sink.deliver(id, 0, 1, ByteBuffer.wrap(payload), Map.of());
                    link.sink.flush();
                    awaitAck(turn, acked, id);
                }
            });

            for (int id = 1; id <= rounds; id++) {
                assertThat(client.expect(RawClient.BINARY).eventId()).isEqualTo(id);
                client.line("ACK:" + id);
            }

            transfer.get(20, TimeUnit.SECONDS);
        }
    }

    private static void awaitAck(Object turn, long[] acked, int id) {
        synchronized (turn) {
            while (acked[0] < id) {
                try {
                    turn.wait(20_000);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        }
    }

    @Test
    void anUnknownHostIsAReasonNotToStart() {
        ServerConfig config = new ServerConfig(
                "no.such.host.invalid",
                0,
                1,
                Duration.ofSeconds(1),
                Duration.ofSeconds(1),
                Duration.ofSeconds(3),
                1,
                Duration.ofSeconds(1));
        RelayServer server =
                new RelayServer(config, StubPipe::new, new StubIntake(), EdgeEvents.NONE, System::nanoTime);

        assertThatThrownBy(server::start).hasMessageContaining("no.such.host.invalid:0");
        assertThat(List.of(server.connections())).containsExactly(0);
    }
}
