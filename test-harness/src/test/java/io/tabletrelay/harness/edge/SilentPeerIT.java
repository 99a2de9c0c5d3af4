package io.tabletrelay.harness.edge;

import static io.tabletrelay.harness.edge.EdgeProcess.FULL;
import static io.tabletrelay.harness.edge.EdgeProcess.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.tabletrelay.harness.RawClient;
import io.tabletrelay.harness.RelayProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A peer whose link goes down: nothing says that it is gone. With {@code -Pedge} under the timeouts of every relay. */
class SilentPeerIT {
    private static final String PIPE = "far";
    private static final Duration HEARTBEAT = Duration.ofMillis(FULL ? 10_000 : 500);
    private static final Duration TIMEOUT = Duration.ofMillis(FULL ? 30_000 : 2_000);
    private static final Duration TICKS = Duration.ofSeconds(2);

    @TempDir
    private Path data;

    @Test
    void aPeerWhoseLinkIsDownIsCutWithinTheHeartbeatTimeoutAndItsEventsComeAgain() throws Exception {
        try (FarNetwork network = FarNetwork.open(); // BR-064, BR-091, BR-095
                EdgeProcess relay = EdgeProcess.start(
                        data,
                        "host=0.0.0.0",
                        "heartbeat=" + HEARTBEAT.toMillis(),
                        "heartbeat-timeout=" + TIMEOUT.toMillis(),
                        "probe=" + Duration.ofMinutes(5).toMillis(),
                        "fill=" + PIPE + ":20:100")) {
            String address = "ws://" + network.here() + ":" + relay.wsPort() + "/";
            try (RelayProcess far = RelayProcess.start(
                    network.launcher(), List.of(), FarConsumer.class.getName(), List.of(address, PIPE), line -> {})) {
                await().atMost(PATIENCE).until(() -> far.output().contains("got 10"));
                relay.process().runFor(TIMEOUT.plus(TICKS));
                assertThat(relay.said("cut off")).as("it answers pings").isEmpty();

                network.cut();
                long startNanos = System.nanoTime();
                await().atMost(PATIENCE)
                        .until(() -> !relay.status(PIPE).path("consumer").asBoolean());

                Duration took = Duration.ofNanos(System.nanoTime() - startNanos);
                System.out.printf("silent: cut after %d ms, timeout %d ms%n", took.toMillis(), TIMEOUT.toMillis());
                assertThat(took).isBetween(TIMEOUT.minus(HEARTBEAT).minus(TICKS), TIMEOUT.plus(TICKS));
                assertThat(relay.said("silent peer cut off")).hasSize(1);
            }
            try (RawClient next = relay.bind(PIPE)) {
                for (long id = 1; id <= 20; id++) {
                    assertThat(next.next(PATIENCE).eventId()).isEqualTo(id);
                    next.sendText("ACK:" + id);
                }
                relay.awaitStatus(PIPE, "floor", 20);
            }
        }
    }
}
