package io.tabletrelay.core.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.tabletrelay.core.config.ServerConfig;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HeartbeatTest {
    private static final ServerConfig LIVELY = new ServerConfig(
            "127.0.0.1",
            0,
            100,
            Duration.ofSeconds(60),
            Duration.ofMillis(200),
            Duration.ofMillis(1_500),
            1 << 20,
            Duration.ofSeconds(60));

    private final EdgeRig rig = new EdgeRig(LIVELY);

    @AfterEach
    void stop() {
        rig.close();
    }

    @Test
    void aPeerFromWhichNothingComesIsCutThoughItTakesItsPings() throws IOException {
        try (RawClient client = RawClient.bound(rig.port(), "p")) {
            int pings = 0;
            RawClient.Frame frame = client.nextOfAny();
            while (frame != null) {
                assertThat(frame.opcode()).isEqualTo(RawClient.PING);
                assertThat(++pings).isLessThan(50);
                frame = client.nextOfAny();
            }

            assertThat(pings).isPositive();
            assertThat(rig.counts.silentCut).hasValue(1);
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> rig.pipe("p").link().gone.get() == 1);
            assertThat(rig.logged).singleElement().asString().startsWith("INFO silent peer cut off");
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {IllegalStateException.class, StackOverflowError.class})
    void aThrowOverOnePeerStopsTheWatchOverNone(Class<? extends Throwable> type) throws Exception {
        Throwable thrown = type.getConstructor().newInstance();
        AtomicInteger cuts = new AtomicInteger();
        EdgeEvents throwingOnce = new EdgeEvents() {
            @Override
            public void silentPeerCut() {
                if (cuts.getAndIncrement() == 0) {
                    HeartbeatTest.<RuntimeException>sneak(thrown);
                }
            }
        };
        RelayServer server = new RelayServer(LIVELY, StubPipe::new, new StubIntake(), throwingOnce, System::nanoTime);
        server.start();
        try (RawClient one = RawClient.bound(server.port(), "one");
                RawClient other = RawClient.bound(server.port(), "other")) {
            one.readToTheEnd();
            other.readToTheEnd();

            assertThat(cuts).as("the one that threw is cut at the next look").hasValue(3);
        } finally {
            server.stop(Duration.ZERO);
        }
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <T extends Throwable> void sneak(Throwable thrown) throws T {
        throw (T) thrown;
    }

    @Test
    void anIdlePeerIsPingedOnceAHeartbeat() throws IOException {
        try (RawClient client = RawClient.bound(rig.port(), "p")) {
            client.expect(RawClient.PING);
            long startNanos = System.nanoTime();
            for (int ping = 1; ping <= 10; ping++) {
                client.frame(RawClient.PONG, client.expect(RawClient.PING).payload());
            }
            Duration took = Duration.ofNanos(System.nanoTime() - startNanos);

            assertThat(took.dividedBy(10)).isBetween(Duration.ofMillis(160), Duration.ofMillis(400));
        }
    }

    @Test
    void anyFrameIsLifeNotOnlyAPong() throws IOException {
        try (RawClient client = RawClient.bound(rig.port(), "p")) {
            long end = System.nanoTime() + Duration.ofSeconds(3).toNanos();
            while (System.nanoTime() < end) {
                client.expect(RawClient.PING);
                client.line("ACK:1");
            }

            assertThat(rig.counts.silentCut).hasValue(0);
            assertThat(rig.pipe("p").link().gone).hasValue(0);
        }
    }
}
