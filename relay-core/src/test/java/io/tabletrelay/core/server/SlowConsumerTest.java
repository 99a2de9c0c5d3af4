package io.tabletrelay.core.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.tabletrelay.api.PipeName;
import io.tabletrelay.core.config.ServerConfig;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SlowConsumerTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final int MAX_UNSENT_BYTES = 256 * 1024;
    private static final int EVENT_BYTES = 50_000;
    private static final ServerConfig IMPATIENT = new ServerConfig(
            "127.0.0.1",
            0,
            100,
            Duration.ofSeconds(60),
            Duration.ofSeconds(20),
            Duration.ofSeconds(60),
            MAX_UNSENT_BYTES,
            Duration.ofSeconds(1));

    private static final ServerConfig HASTY = new ServerConfig(
            "127.0.0.1",
            0,
            100,
            Duration.ofMillis(500),
            Duration.ofSeconds(20),
            Duration.ofSeconds(60),
            MAX_UNSENT_BYTES,
            Duration.ofMillis(500));

    private final EdgeRig rig = new EdgeRig(IMPATIENT);

    @AfterEach
    void stopWithNothingLogged() {
        rig.close();
        assertThat(rig.logged).isEmpty();
    }

    @Test
    void aConsumerThatDoesNotReadIsBoundedAndThenCutOff() throws IOException {
        try (RawClient client = RawClient.openWithSmallBuffer(rig.port());
                RawClient other = RawClient.bound(rig.port(), "q")) {
            client.line("BIND:p");
            client.expectText("READY");
            StubPipe.Link link = rig.pipe("p").link();
            StubPipe.Link otherLink = rig.pipe("q").link();

            long mostUnsent = 0;
            long mostShown = 0;
            for (int id = 1; link.gone.get() == 0; id++) {
                if (link.sink.writable()) {
                    long given = link.sink.deliver(id, 0, 1, ByteBuffer.allocate(EVENT_BYTES), Map.of());
                    link.sink.flush();
                    mostUnsent = Math.max(mostUnsent, given - link.sink.writtenBytes());
                    mostShown = Math.max(mostShown, rig.server.mostUnsentBytes());
                } else {
                    otherLink.sink.deliver(id, 0, 1, ByteBuffer.allocate(8), Map.of());
                    otherLink.sink.flush();
                    assertThat(other.expect(RawClient.BINARY).eventId()).isEqualTo(id);
                }
            }

            assertThat(mostShown).isBetween((long) MAX_UNSENT_BYTES / 2, mostUnsent + EVENT_BYTES);
            assertThat(mostUnsent).isBetween((long) MAX_UNSENT_BYTES, MAX_UNSENT_BYTES + EVENT_BYTES + 100L);
            assertThat(link.gone).hasValue(1);
            assertThat(rig.counts.slowCut).hasValue(1);
            assertThat(rig.logged)
                    .singleElement()
                    .asString()
                    .startsWith("WARN slow consumer cut off")
                    .contains("pipe=p");
        }
        rig.forgetLogged();
    }

    @Test
    void aConsumerThatWasTooSlowIsToldSoBehindWholeFramesIfItReadsOn() throws IOException {
        try (RawClient client = RawClient.openWithSmallBuffer(rig.port())) {
            client.line("BIND:p");
            client.expectText("READY");
            StubPipe.Link link = rig.pipe("p").link();
            long given = 0;
            while (link.gone.get() == 0) {
                if (link.sink.writable()) {
                    link.sink.deliver(++given, 0, 1, ByteBuffer.allocate(EVENT_BYTES), Map.of());
                    link.sink.flush();
                }
            }
            client.line("ACK:1");

            long read = 0;
            RawClient.Frame frame = client.next();
            while (frame != null && frame.opcode() == RawClient.BINARY) {
                assertThat(frame.eventId()).isEqualTo(++read);
                assertThat(frame.payload()).hasSize(Long.BYTES + EVENT_BYTES);
                frame = client.next();
            }

            if (frame == null) {
                throw new AssertionError("the stream ended without a close frame");
            }
            assertThat(frame.closeCode()).isEqualTo(4008);
            assertThat(frame.closeReason()).isEqualTo("slow consumer");
            assertThat(read).as("what had not begun to leave is thrown away").isBetween(1L, given - 1);
            client.frame(RawClient.CLOSE, frame.payload());
            assertThat(client.atEnd()).isTrue();
            assertThat(link.gone).hasValue(1);
            assertThat(link.acks).as("a late ack counts").containsExactly(1L);
        }
        rig.forgetLogged();
    }

    @Test
    void aConsumerThatTakesItsLastBytesAsItIsGivenUpIsToldSoToo() throws Exception {
        Hesitating hesitating = new Hesitating();
        StubPipe pipe = new StubPipe(new PipeName("p"));
        RelayServer server = new RelayServer(IMPATIENT, name -> pipe, new StubIntake(), hesitating, System::nanoTime);
        server.start();
        try (RawClient client = RawClient.openWithSmallBuffer(server.port())) {
            client.line("BIND:p");
            client.expectText("READY");
            StubPipe.Link link = pipe.link();
            long given = 0;
            while (hesitating.givingUp.getCount() > 0) {
                if (link.sink.writable()) {
                    link.sink.deliver(++given, 0, 1, ByteBuffer.allocate(EVENT_BYTES), Map.of());
                    link.sink.flush();
                }
            }

            for (long id = 1; id <= given; id++) {
                assertThat(client.expect(RawClient.BINARY).eventId()).isEqualTo(id);
            }
            client.sync();
            hesitating.mayGoOn.countDown();

            assertThat(client.expectClose().closeCode()).isEqualTo(4008);
        } finally {
            hesitating.mayGoOn.countDown();
            server.stop(Duration.ZERO);
        }
        rig.forgetLogged();
    }

    /** Holds the timer thread between the verdict on a consumer and what is done about it. */
    private static final class Hesitating implements EdgeEvents {
        final CountDownLatch givingUp = new CountDownLatch(1);
        final CountDownLatch mayGoOn = new CountDownLatch(1);

        @Override
        public void slowConsumerCut() {
            givingUp.countDown();
            try {
                mayGoOn.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    @Test
    void aConsumerThatIsCutAgainAndAgainMustWaitAndIsToldHowLong() throws IOException {
        try (EdgeRig hasty = new EdgeRig(HASTY)) {
            for (int cut = 0; cut < 2; cut++) {
                letStall(hasty, cut);
            }

            try (RawClient early = RawClient.open(hasty.port());
                    RawClient other = RawClient.bound(hasty.port(), "q")) {
                early.line("BIND:p");
                early.expectText("ERROR");
                RawClient.Frame close = early.expectClose();

                assertThat(close.closeCode()).isEqualTo(4429);
                assertThat(close.closeReason()).matches("cut off as a slow consumer 2 times; bind again in [1-5] s");
                other.sync();
            }
        }
        rig.forgetLogged();
    }

    private static void letStall(EdgeRig rig, int cutsBefore) throws IOException {
        try (RawClient client = RawClient.openWithSmallBuffer(rig.port())) {
            client.line("BIND:p");
            client.expectText("READY");
            StubPipe.Link link = rig.pipe("p").links.get(cutsBefore);
            for (int id = 1; rig.counts.slowCut.get() == cutsBefore; id++) {
                if (link.sink.writable()) {
                    link.sink.deliver(id, 0, 1, ByteBuffer.allocate(EVENT_BYTES), Map.of());
                    link.sink.flush();
                }
            }
            await("the pipe is told")
                    .atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(link.gone).hasValue(1));
        }
    }

    @Test
    void aConsumerThatNeverReadsOnIsCutAfterTheTimeOfAHandshake() throws IOException {
        try (EdgeRig hasty = new EdgeRig(HASTY);
                RawClient client = RawClient.openWithSmallBuffer(hasty.port())) {
            client.line("BIND:p");
            client.expectText("READY");
            StubPipe.Link link = hasty.pipe("p").link();
            for (int id = 1; link.gone.get() == 0; id++) {
                if (link.sink.writable()) {
                    link.sink.deliver(id, 0, 1, ByteBuffer.allocate(EVENT_BYTES), Map.of());
                    link.sink.flush();
                }
            }

            await().atMost(PATIENCE).until(() -> hasty.server.connections() == 0);

            assertThat(link.gone).hasValue(1);
        }
        rig.forgetLogged();
    }

    @Test
    void aConsumerThatReadsSlowlyIsKeptAndGetsEverything() throws Exception {
        int events = 150;
        try (RawClient client = RawClient.openWithSmallBuffer(rig.port())) {
            client.line("BIND:p");
            client.expectText("READY");
            StubPipe.Link link = rig.pipe("p").link();
            Thread reader = new Thread(() -> readSlowly(client, events), "slow-reader");
            reader.start();

            int waits = 0;
            for (int id = 1; id <= events; id++) {
                if (!link.sink.writable()) {
                    waits++;
                    int before = link.writables.get();
                    await().atMost(PATIENCE).until(() -> link.writables.get() > before || link.sink.writable());
                }
                link.sink.deliver(id, 0, 1, ByteBuffer.allocate(EVENT_BYTES), Map.of());
                link.sink.flush();
            }
            reader.join();

            assertThat(waits).isPositive();
            assertThat(link.writables).hasValueGreaterThan(0);
            assertThat(link.gone).hasValue(0);
            client.sync();
        }
    }

    private static void readSlowly(RawClient client, int events) {
        try {
            for (int id = 1; id <= events; id++) {
                assertThat(client.expect(RawClient.BINARY).eventId()).isEqualTo(id);
                await().pollDelay(Duration.ofMillis(20)).until(() -> true);
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void anIdleConsumerIsNotSlow() throws IOException {
        try (RawClient client = RawClient.bound(rig.port(), "p")) {
            StubPipe.Link link = rig.pipe("p").link();
            await().pollDelay(Duration.ofMillis(1_500)).until(() -> true);

            link.sink.deliver(1, 0, 1, ByteBuffer.allocate(10), Map.of());
            link.sink.flush();

            assertThat(client.expect(RawClient.BINARY).eventId()).isEqualTo(1);
            assertThat(link.gone).hasValue(0);
        }
    }
}
