package io.tabletrelay.harness.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.tabletrelay.harness.RawClient;
import io.tabletrelay.harness.ReleasedClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The relay as the released CDC client sees it. */
class ReleasedClientOnTheRelayTest {
    private static final String PIPE = "released";
    private static final int EVENTS = 150;

    @TempDir
    private Path data;

    @Test
    void aClientThatLosesItsConnectionAgainAndAgainGetsEverythingAndItsLateAcksCount() throws Exception {
        try (TestRelay relay = TestRelay.start(data, TestRelay.window(10));
                ReleasedClient client = new ReleasedClient(PIPE, relay::wsPort)) {
            relay.publish(PIPE, 1, EVENTS);
            TreeSet<Long> seen = new TreeSet<>();
            while (seen.size() < EVENTS) {
                RawClient.Frame event =
                        Objects.requireNonNull(client.poll(TestRelay.PATIENCE), () -> "nothing after " + seen.size());
                if (seen.add(event.eventId()) && seen.size() % 40 == 0) {
                    client.breakConnection();
                }
                await("a connection to ack on")
                        .atMost(TestRelay.PATIENCE)
                        .pollInterval(Duration.ofMillis(5))
                        .until(() -> client.ack(event.eventId()));
            }

            settleWhatWasLost(relay, client);
            assertThat(seen.first()).isEqualTo(1);
            assertThat(seen.last()).isEqualTo(EVENTS);
            assertThat(client.connections()).isGreaterThan(3);
        }
    }

    /** An ack that was written to a dying connection may never have been read: its event comes again. */
    private static void settleWhatWasLost(TestRelay relay, ReleasedClient client) {
        await("everything is settled").atMost(TestRelay.PATIENCE).until(() -> {
            RawClient.Frame again = client.poll(Duration.ofMillis(50));
            if (again != null) {
                client.ack(again.eventId());
            }
            return relay.status(PIPE).path("floor").asLong() == EVENTS;
        });
    }
}
