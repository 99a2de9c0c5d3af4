package io.tabletrelay.harness.edge;

import static io.tabletrelay.harness.edge.EdgeProcess.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.harness.RawClient;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Readers slower than what waits for them, with the timeouts that every relay has. */
@DisabledIfSystemProperty(named = "edge.full", matches = "false", disabledReason = "runs with -Pedge")
class SlowReaderIT {
    private static final String PIPE = "slow";
    private static final int EVENT_BYTES = 64 << 10;
    private static final int EVENTS = 500;
    private static final Duration READING = Duration.ofSeconds(80);

    @TempDir
    private Path data;

    /** The slower one reads less in all of the slow-consumer timeout than a connection's buffers hold. */
    @ParameterizedTest
    @ValueSource(ints = {400_000, 25_000})
    void aConsumerThatReadsSlowlyAndAnswersNothingIsNeverTakenForDead(int bytesPerSecond) throws Exception {
        try (EdgeProcess relay = EdgeProcess.start( // BR-090
                        data, "window=65536", "fill=" + PIPE + ":" + EVENTS + ":" + EVENT_BYTES);
                RawClient slow = relay.bind(PIPE)) {
            slow.answerPings(false);
            long startNanos = System.nanoTime();

            for (long id = 1; id <= READING.toSeconds() * bytesPerSecond / EVENT_BYTES; id++) {
                RawClient.Frame frame = slow.next(PATIENCE);
                assertThat(frame.opcode()).isEqualTo(RawClient.BINARY);
                assertThat(frame.eventId()).isEqualTo(id);
                long dueNanos = startNanos + id * EVENT_BYTES * 1_000_000_000L / bytesPerSecond;
                relay.process().runFor(Duration.ofNanos(Math.max(0, dueNanos - System.nanoTime())));
            }

            assertThat(relay.status(PIPE).path("consumer").asBoolean()).isTrue();
            assertThat(relay.said("cut off")).isEmpty();
        }
    }
}
