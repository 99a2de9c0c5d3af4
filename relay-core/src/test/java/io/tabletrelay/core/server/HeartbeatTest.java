package io.tabletrelay.core.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.tabletrelay.core.config.ServerConfig;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

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
