package io.tabletrelay.core.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConsumerSessionTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final EdgeRig rig = EdgeRig.start();

    @AfterEach
    void stopWithNothingLogged() {
        rig.close();
        assertThat(rig.logged).isEmpty();
    }

    @Test
    void aConsumerIsBoundAndAcksWhatItGets() throws IOException {
        try (RawClient client = RawClient.bound(rig.port(), "p")) {
            StubPipe.Link link = rig.pipe("p").link();

            link.sink.deliver(7, 0, 1, ByteBuffer.wrap("hello".getBytes(StandardCharsets.UTF_8)), Map.of());
            link.sink.flush();
            RawClient.Frame event = client.expect(RawClient.BINARY);
            client.line("ACK:7");
            client.line("ERROR:8");
            client.sync();

            assertThat(event.eventId()).isEqualTo(7);
            assertThat(new String(event.payload(), 8, 5, StandardCharsets.UTF_8))
                    .isEqualTo("hello");
            assertThat(link.acks).containsExactly(7L);
            assertThat(link.nacks).containsExactly(8L);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "BIND",
                "BIND:",
                "BINDoops",
                "bind:q",
                " BIND:q",
                "BIND:q",
                "READY",
                "ERROR",
                "ACK",
                "ACK:",
                "ACK:abc",
                "ACK:-1",
                "ACK:+1",
                "ACK: 1",
                "ACK:1 ",
                "ACK:0",
                "ACK:9223372036854775808",
                "ACK:99999999999999999999999",
                "ACKTO:1",
                "ACK:1-3",
                "NACK:1",
                "ERROR:",
                "ERROR:x",
                "PUBLISH:p",
                "\u0000\u0001",
                "ACK:\u0661"
            })
    void aMalformedLineChangesNothingAndTheConnectionStays(String line) throws IOException {
        try (RawClient client = RawClient.bound(rig.port(), "p")) {
            client.line(line);
            client.sync();
            client.line("ACK:5");
            client.sync();

            assertThat(rig.counts.malformedLines).hasValue(1);
            assertThat(rig.pipe("p").link().acks).containsExactly(5L);
            assertThat(rig.pipe("p").link().nacks).isEmpty();
            assertThat(rig.pipe("q").links).isEmpty();
            assertThat(rig.logged)
                    .singleElement()
                    .asString()
                    .startsWith("WARN line means nothing")
                    .contains("pipe=p");
        }
        rig.forgetLogged();
    }

    @Test
    void onlyTheFirstMalformedLineOfAConnectionIsLoggedAndItIsCutOff() throws IOException {
        try (RawClient client = RawClient.open(rig.port())) {
            for (int i = 0; i < 100; i++) {
                client.line("oops\n\u001b[31m" + "x".repeat(5_000));
            }
            client.sync();

            assertThat(rig.counts.malformedLines).hasValue(100);
            assertThat(rig.logged)
                    .singleElement()
                    .asString()
                    .hasSizeLessThan(300)
                    .doesNotContain("\u001b", "\n");
        }
        rig.forgetLogged();
    }

    @Test
    void aBinaryFrameFromAConsumerIsCountedAndChangesNothing() throws IOException {
        try (RawClient client = RawClient.bound(rig.port(), "p")) {
            client.frame(RawClient.BINARY, "ACK:1".getBytes(StandardCharsets.UTF_8));
            client.sync();

            assertThat(rig.counts.malformedLines).hasValue(1);
            assertThat(rig.pipe("p").link().acks).isEmpty();
        }
        rig.forgetLogged();
    }

    @Test
    void oneSocketHasOnePipe() throws IOException {
        try (RawClient client = RawClient.bound(rig.port(), "p")) {
            client.line("BIND:other");
            client.line("BIND:p");
            client.sync();

            StubPipe.Link link = rig.pipe("p").link();
            link.sink.deliver(1, 0, 1, NOTHING, Map.of());
            link.sink.flush();

            assertThat(client.expect(RawClient.BINARY).eventId()).isEqualTo(1);
            assertThat(rig.pipe("other").links).isEmpty();
            assertThat(rig.counts.malformedLines).hasValue(2);
        }
        rig.forgetLogged();
    }

    @Test
    void aPipeThatCannotBeHadLeavesTheConnectionFreeToAskAgain() throws IOException {
        try (RawClient client = RawClient.open(rig.port())) {
            client.line("BIND:failed");
            client.sync();
            client.line("BIND:p");
            client.expectText("READY");

            assertThat(rig.counts.bindsFailed).hasValue(1);
            assertThat(rig.logged).singleElement().asString().contains("pipe=failed");
        }
        rig.forgetLogged();
    }

    @Test
    void acksBeforeTheBindCountInTheirOrder() throws IOException {
        try (RawClient client = RawClient.open(rig.port())) {
            client.line("ACK:3");
            client.line("ACK:1");
            client.line("ERROR:9");
            client.line("BIND:p");
            client.expectText("READY");
            client.line("ACK:2");
            client.sync();

            assertThat(rig.pipe("p").link().acks).containsExactly(3L, 1L, 2L);
            assertThat(rig.pipe("p").link().nacks).isEmpty();
            assertThat(rig.counts.answersDropped).hasValue(1); // the ERROR: nothing can be held yet
        }
    }

    @Test
    void acksBeforeTheBindAreWithThePipeBeforeItsThreadCanSendAnything() throws IOException {
        CompletableFuture<List<Long>> acksAtFirstSend = new CompletableFuture<>();
        rig.pipe("p").onBind(sink -> {
            CompletableFuture<Void> bound = CompletableFuture.runAsync(() -> {
                sink.bound(null);
                acksAtFirstSend.complete(List.copyOf(rig.pipe("p").link().acks));
            });
            try {
                bound.get(100, TimeUnit.MILLISECONDS); // this thread is held up before it knows its link
            } catch (TimeoutException waits) {
                assertThat(acksAtFirstSend).isNotDone();
            } catch (InterruptedException | ExecutionException e) {
                throw new AssertionError(e);
            }
        });
        try (RawClient client = RawClient.open(rig.port())) {
            client.line("ACK:3");
            client.line("BIND:p");
            client.expectText("READY");

            assertThat(acksAtFirstSend).succeedsWithin(PATIENCE).isEqualTo(List.of(3L));
        }
    }

    @Test
    void acksBetweenBindAndReadyWaitForTheAnswer() throws IOException {
        rig.pipe("p").onBind(sink -> {});
        try (RawClient client = RawClient.open(rig.port())) {
            client.line("BIND:p");
            client.line("ACK:1");
            client.sync();
            StubPipe.Link link = rig.pipe("p").link();
            List<Long> before = List.copyOf(link.acks);

            link.sink.bound(null);

            client.expectText("READY");
            assertThat(before).isEmpty();
            assertThat(link.acks).containsExactly(1L);
        }
    }

    @Test
    void moreThan1024EarlyAcksAreDroppedAndCounted() throws IOException {
        try (RawClient client = RawClient.open(rig.port())) {
            for (int id = 1; id <= 1030; id++) {
                client.line("ACK:" + id);
            }
            client.line("BIND:p");
            client.expectText("READY");
            client.sync();

            await("early acks are applied")
                    .untilAsserted(() -> assertThat(rig.pipe("p").link().acks)
                            .containsExactlyElementsOf(
                                    LongStream.rangeClosed(1, 1024).boxed().toList()));
            assertThat(rig.counts.answersDropped).hasValue(6);
        }
    }

    @Test
    void aRefusedConsumerGetsErrorAndCloseAndItsAcksAreDropped() throws IOException {
        rig.pipe("p").onBind(sink -> {});
        try (RawClient client = RawClient.open(rig.port())) {
            client.line("ACK:1");
            client.line("BIND:p");
            client.sync();
            StubPipe.Link link = rig.pipe("p").link();

            link.sink.refused(new RelayException(ErrorCode.PIPE_BUSY, "Too many connections."));
            client.expectText("ERROR");
            RawClient.Frame close = client.expect(RawClient.CLOSE);
            client.line("ACK:2");
            client.frame(RawClient.CLOSE, close.payload());

            assertThat(close.closeCode()).isEqualTo(4000);
            assertThat(close.closeReason()).isEqualTo("Too many connections.");
            assertThat(client.atEnd()).isTrue();
            await().atMost(PATIENCE).until(() -> link.gone.get() == 1);
            assertThat(link.acks).isEmpty();
            assertThat(rig.counts.answersDropped).hasValue(2);
        }
    }

    @Test
    void aConsumerThatIsTakenOverIsToldAndItsLateAcksCount() throws IOException {
        try (RawClient client = RawClient.bound(rig.port(), "p")) {
            StubPipe.Link link = rig.pipe("p").link();

            link.sink.takenOver();
            link.sink.deliver(99, 0, 1, NOTHING, Map.of());
            link.sink.flush();
            RawClient.Frame close = client.expect(RawClient.CLOSE);
            client.line("ACK:5");
            client.frame(RawClient.CLOSE, close.payload());

            assertThat(client.atEnd()).isTrue();
            assertThat(close.closeCode()).isEqualTo(4409);
            assertThat(close.closeReason()).isEqualTo("taken over");
            assertThat(link.acks).containsExactly(5L);
            await().atMost(PATIENCE).until(() -> link.gone.get() == 1);
        }
    }

    @Test
    void onlyTheProbesOwnPongIsItsAnswer() throws IOException {
        try (RawClient client = RawClient.bound(rig.port(), "p")) {
            StubPipe.Link link = rig.pipe("p").link();

            link.sink.probe();
            RawClient.Frame first = client.expect(RawClient.PING);
            link.sink.probe();
            RawClient.Frame second = client.expect(RawClient.PING);
            client.frame(RawClient.PONG, first.payload());
            client.frame(RawClient.PONG, new byte[0]);
            client.sync();
            int signsBefore = link.probePongs.get();
            client.frame(RawClient.PONG, second.payload());
            client.sync();

            assertThat(signsBefore).isZero();
            assertThat(link.probePongs).hasValue(1);
            assertThat(link.signs.get()).isGreaterThanOrEqualTo(3);
        }
    }

    @Test
    void anAckMayArriveWhileItsDeliveryIsStillUnderWay() throws IOException {
        CountDownLatch acked = new CountDownLatch(1);
        try (RawClient client = RawClient.bound(rig.port(), "p")) {
            StubPipe.Link link = rig.pipe("p").link();
            link.onAck = id -> {
                link.sink.deliver(id + 1, 0, 1, NOTHING, Map.of());
                link.sink.flush();
                acked.countDown();
            };
            client.line("ACK:1");

            long given = link.sink.deliver(1, 0, 1, ByteBuffer.allocate(200_000), Map.of());

            assertThat(client.expect(RawClient.BINARY).eventId()).isBetween(1L, 2L);
            assertThat(given).isPositive();
            assertThat(awaits(acked)).isTrue();
        }
    }

    private static boolean awaits(CountDownLatch latch) {
        try {
            return latch.await(20, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 117, 118, 125, 126, 65_527, 65_528, 65_535, 65_536, 1 << 20, 4 << 20})
    void payloadsOfEverySizeArriveAsTheyWere(int payloadBytes) throws IOException {
        byte[] payload = new byte[payloadBytes];
        new Random(payloadBytes).nextBytes(payload);
        try (RawClient client = RawClient.bound(rig.port(), "p")) {
            StubPipe.Link link = rig.pipe("p").link();

            long given = link.sink.deliver(Long.MAX_VALUE, 0, 1, ByteBuffer.wrap(payload), Map.of());
            link.sink.flush();
            RawClient.Frame event = client.expect(RawClient.BINARY);

            assertThat(event.eventId()).isEqualTo(Long.MAX_VALUE);
            assertThat(ByteBuffer.wrap(event.payload(), 8, payloadBytes)).isEqualTo(ByteBuffer.wrap(payload));
            await().atMost(PATIENCE).until(() -> link.sink.writtenBytes() == given);
        }
    }

    @Test
    void manyEventsOfOneTurnAreStillOneEventAFrame() throws IOException {
        int events = 20_000;
        try (RawClient client = RawClient.bound(rig.port(), "p")) {
            StubPipe.Link link = rig.pipe("p").link();
            Random random = new Random(1);
            long given = 0;

            for (int id = 1; id <= events; id++) {
                given = link.sink.deliver(id, 0, 1, ByteBuffer.allocate(random.nextInt(100)), Map.of());
            }
            link.sink.flush();

            for (int id = 1; id <= events; id++) {
                assertThat(client.expect(RawClient.BINARY).eventId()).isEqualTo(id);
            }
            assertThat(link.sink.writtenBytes()).isEqualTo(given);
        }
    }

    @Test
    void nothingIsDeliveredBeforeReady() throws IOException {
        rig.pipe("p").onBind(sink -> {
            sink.bound(null);
            sink.deliver(1, 0, 1, NOTHING, Map.of());
            sink.flush();
        });
        try (RawClient client = RawClient.open(rig.port())) {
            client.line("BIND:p");

            client.expectText("READY");
            assertThat(client.expect(RawClient.BINARY).eventId()).isEqualTo(1);
        }
    }

    @Test
    void aConnectionThatGoesWhileEventsLeaveEndsItsLinkOnce() throws IOException {
        for (int round = 0; round < 50; round++) {
            StubPipe pipe = rig.pipe("round " + round);
            RawClient client = RawClient.bound(rig.port(), "round " + round);
            StubPipe.Link link = pipe.link();

            for (int id = 1; id <= 200; id++) {
                link.sink.deliver(id, 0, 1, ByteBuffer.allocate(1_000), Map.of());
                if (id == 100) {
                    if (round % 2 == 0) {
                        client.reset();
                    } else {
                        client.close();
                    }
                }
                link.sink.flush();
            }

            await().atMost(PATIENCE).until(() -> link.gone.get() == 1);
            link.sink.deliver(1_000, 0, 1, NOTHING, Map.of());
            link.sink.flush();
            link.sink.probe();
            link.sink.takenOver();
            link.sink.refused(new RelayException(ErrorCode.PIPE_BUSY, "Too many connections."));
            assertThat(link.gone).hasValue(1);
        }
        await().atMost(PATIENCE).until(() -> rig.server.connections() == 0);
    }
}
