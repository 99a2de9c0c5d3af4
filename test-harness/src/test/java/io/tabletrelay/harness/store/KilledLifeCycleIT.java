package io.tabletrelay.harness.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.core.client.RelayHttp;
import io.tabletrelay.harness.RawClient;
import io.tabletrelay.harness.RelayProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a pipe's state is after kill -9. */
class KilledLifeCycleIT {
    private static final Duration PATIENCE = StoredRelay.PATIENCE;
    private static final int KILLS = 8;
    private static final List<String> ROUND = List.of("pause", "resume", "drain", "close", "open");

    @TempDir
    private Path data;

    @Test
    void aPipeThatIsKilledWhileItDrainsGoesOnDrainingAndIsClosedInTheEnd() throws Exception {
        try (StoredRelay relay = StoredRelay.start(data)) {
            for (int number = 1; number <= 30; number++) {
                relay.publish("orders", number, 100);
            }
            JsonNode draining = new RelayHttp(relay.process().http()).changePipe("orders", "drain", 1L);
            assertThat(draining.path("state").asText()).isEqualTo("DRAINING");
            relay.consume("orders", 1, 10);
            relay.process().kill();
        }

        try (StoredRelay relay = StoredRelay.start(data)) {
            assertThat(relay.status("orders").path("state").asText()).isEqualTo("DRAINING");
            assertThat(relay.refusal("orders", 10).code()).isEqualTo(ErrorCode.WRONG_STATE);
            relay.consume("orders", 11, 30);
            await("closed").atMost(PATIENCE).until(() -> state(relay).equals("CLOSED"));
            relay.process().kill();
        }

        try (StoredRelay relay = StoredRelay.start(data)) {
            assertThat(state(relay)).isEqualTo("CLOSED");
            new RelayHttp(relay.process().http()).changePipe("orders", "open", 3L);
            assertThat(relay.publish("orders", 31, 100)).isEqualTo(31);
            relay.consume("orders", 31, 31);
        }
    }

    @Test
    void aFinishedPipeThatIsKilledIsFinishedDeliversTheRestAndTerminates() throws Exception {
        try (RelayProcess process = RelayProcess.start(
                FinishingPipe.class.getName(), List.of(data.toString(), "orders", "30"), line -> {})) {
            await("finished").atMost(PATIENCE).until(() -> process.output().contains("finished at 30"));
            process.kill();
        }

        try (StoredRelay relay = StoredRelay.start(data)) {
            assertThat(relay.refusal("orders", 10).code()).isEqualTo(ErrorCode.PIPE_FINISHED);
            assertThat(state(relay)).isEqualTo("OPEN");
            relay.consume("orders", 1, 20);
            relay.process().kill();
        }

        try (StoredRelay relay = StoredRelay.start(data)) {
            assertThat(relay.status("orders").path("finishedAtId").asLong()).isEqualTo(30);
            relay.consume("orders", 21, 30);
            await("terminated").atMost(PATIENCE).until(() -> state(relay).equals("TERMINATED"));
            relay.process().kill();
        }

        try (StoredRelay relay = StoredRelay.start(data);
                RawClient late = RawClient.connect(relay.process().wsPort())) {
            assertThat(state(relay)).isEqualTo("TERMINATED");
            assertThat(relay.refusal("orders", 10).code()).isEqualTo(ErrorCode.PIPE_FINISHED);
            late.sendText("BIND:orders");
            assertThat(late.next(PATIENCE).text()).isEqualTo("READY"); // dialect 1 stays connected
        }
    }

    @Test
    void aKillDuringAChangeLeavesTheStateBeforeItOrBehindIt() throws Exception {
        long seed = System.nanoTime() & 0xffff_ffffL;
        Random random = new Random(seed);
        long answered = 1;
        for (int kill = 0; kill < KILLS; kill++) {
            try (StoredRelay relay = StoredRelay.start(data)) {
                if (kill == 0) {
                    relay.publish("orders", 1, 100);
                }
                long stored = relay.status("orders").path("version").asLong();
                assertThat(stored).as("seed=" + seed).isBetween(answered, answered + 1);
                answered = changeUntilKilled(relay, stored, random.nextInt(300));
            }
        }
    }

    /** Returns the last version that was answered. */
    private static long changeUntilKilled(StoredRelay relay, long version, int afterMillis) throws Exception {
        ExecutorService killer = Executors.newSingleThreadExecutor();
        try {
            var killed = killer.submit(() -> {
                relay.process().runFor(Duration.ofMillis(afterMillis));
                relay.process().kill();
                return null;
            });
            RelayHttp http = new RelayHttp(relay.process().http());
            long answered = version;
            try {
                while (true) {
                    String verb = ROUND.get((int) ((answered - 1) % ROUND.size()));
                    answered = http.changePipe("orders", verb, answered)
                            .path("version")
                            .asLong();
                }
            } catch (IOException gone) {
                killed.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
                return answered;
            }
        } finally {
            killer.shutdown();
        }
    }

    private static String state(StoredRelay relay) throws Exception {
        return relay.status("orders").path("state").asText();
    }
}
