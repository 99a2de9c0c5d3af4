package io.tabletrelay.harness;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.core.client.RelayHttp;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** What a relay with many pipes and nothing to do costs; needs a quiet half minute, so it has a profile of its own. */
@DisabledIfSystemProperty(named = "idle.pipes", matches = "0", disabledReason = "runs with -Pidle")
class IdleIT {
    private static final Duration READY = Duration.ofSeconds(60);
    private static final Duration SETTLING = Duration.ofSeconds(5);
    private static final Duration MEASURED = Duration.ofSeconds(30);

    private final int pipes = Integer.getInteger("idle.pipes", 1_000);

    @TempDir
    private Path data;

    @Test
    void anIdleRelayUsesLessThanAHundredthOfACoreAndDeliversTheNextEventAtOnce() throws Exception {
        try (RelayProcess relay = RelayProcess.serve(data)) {
            relay.awaitReady(READY);
            RelayHttp http = new RelayHttp(relay.http());
            for (int pipe = 0; pipe < pipes; pipe++) {
                publish(http, "idle-" + pipe, "{\"n\":1}");
            }
            relay.runFor(SETTLING);

            Duration before = relay.cpuTime();
            relay.runFor(MEASURED);
            Duration used = relay.cpuTime().minus(before);

            System.out.printf("idle: pipes=%d, cpu=%d ms in %d s%n", pipes, used.toMillis(), MEASURED.toSeconds());
            assertThat(used).isLessThan(MEASURED.dividedBy(100));
            assertThatTheNextEventLeavesAtOnce(relay, http);
        }
    }

    private static void assertThatTheNextEventLeavesAtOnce(RelayProcess relay, RelayHttp http) throws Exception {
        try (RawClient consumer = RawClient.connect(relay.wsPort())) {
            consumer.sendText("BIND:fresh");
            assertThat(consumer.next(READY).text()).isEqualTo("READY");
            publish(http, "fresh", "{\"n\":1}");
            long confirmedNanos = System.nanoTime();

            consumer.next(READY);

            assertThat(Duration.ofNanos(System.nanoTime() - confirmedNanos)).isLessThan(Duration.ofMillis(500));
        }
    }

    private static void publish(RelayHttp http, String pipe, String json) throws Exception {
        http.publish(pipe, "json", Map.of(), ByteBuffer.wrap(json.getBytes(StandardCharsets.UTF_8)), null);
    }
}
