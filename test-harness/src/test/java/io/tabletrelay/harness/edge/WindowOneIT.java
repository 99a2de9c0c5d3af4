package io.tabletrelay.harness.edge;

import static io.tabletrelay.harness.edge.EdgeProcess.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.harness.RawClient;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** A million times an ack and the next event cross: none is left lying. */
@DisabledIfSystemProperty(named = "edge.full", matches = "false", disabledReason = "runs with -Pedge")
class WindowOneIT {
    private static final int EVENTS = 1_000_000;
    private static final Duration STALL = Duration.ofSeconds(5);

    @TempDir
    private Path data;

    @Test
    void aMillionEventsOneAtATimeNeverStall() throws Exception {
        try (EdgeProcess relay = EdgeProcess.start(data, "window=1", "fill=one:" + EVENTS + ":64");
                RawClient client = relay.bind("one")) {
            long startNanos = System.nanoTime();
            long longestNanos = 0;
            long ackedNanos = startNanos;

            for (long id = 1; id <= EVENTS; id++) {
                RawClient.Frame event = client.next(PATIENCE);
                longestNanos = Math.max(longestNanos, System.nanoTime() - ackedNanos);
                assertThat(event.eventId()).isEqualTo(id);
                ackedNanos = System.nanoTime();
                client.sendText("ACK:" + id);
            }

            System.out.printf(
                    "window 1: %d events in %d s, longest wait %d ms%n",
                    EVENTS,
                    Duration.ofNanos(System.nanoTime() - startNanos).toSeconds(),
                    Duration.ofNanos(longestNanos).toMillis());
            assertThat(Duration.ofNanos(longestNanos)).isLessThan(STALL);
            relay.awaitStatus("one", "floor", EVENTS);
        }
    }
}
