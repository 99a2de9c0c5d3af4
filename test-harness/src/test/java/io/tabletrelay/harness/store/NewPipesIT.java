package io.tabletrelay.harness.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.core.client.RelayHttp;
import io.tabletrelay.harness.History;
import io.tabletrelay.harness.RestartingRelay;
import io.tabletrelay.harness.TestConsumer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Kills the relay with SIGKILL while a pipe is made and gets its first events, again and again.
 *
 * <p>System properties: {@code crash.kills}, {@code crash.seed} (0 picks one; it is printed).
 */
class NewPipesIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final BatchProducer.Load FIRST_EVENTS = new BatchProducer.Load(1, 10, 20, 0);

    private final int kills = Integer.getInteger("crash.kills", 10);
    private final long seed = seed();
    private final Random random = new Random(seed);
    private final Map<String, History> histories = new LinkedHashMap<>();

    @TempDir
    private Path data;

    @Test
    void pipesStayAndKeepTheirEventsThoughTheRelayIsKilledWhileTheyAreMade() throws Exception {
        System.out.println("new pipes: kills=" + kills + ", seed=" + seed);
        try (RestartingRelay relay = RestartingRelay.serving(data)) {
            relay.awaitReady(PATIENCE);
            Set<String> listed = Set.of();
            for (int kill = 1; kill <= kills; kill++) {
                killWhileAPipeIsMade(relay, "new-" + kill);
                relay.start();
                relay.awaitReady(PATIENCE);
                Set<String> now = PipeList.of(relay.http());
                assertThat(now)
                        .as("after kill %d, seed=%d", kill, seed)
                        .containsAll(listed)
                        .containsAll(confirmed());
                assertThat(histories.keySet()).containsAll(now);
                listed = now;
            }
            for (String pipe : listed) {
                assertThatNothingIsLost(relay, pipe);
            }
        }
    }

    private void killWhileAPipeIsMade(RestartingRelay relay, String pipe) throws Exception {
        History history = new History();
        histories.put(pipe, history);
        BatchProducer producer = new BatchProducer(pipe, pipe + "-producer", history, FIRST_EVENTS);
        producer.start(new RelayHttp(relay.http()));
        producer.powerIsGoing();
        relay.current().runFor(Duration.ofMillis(random.nextInt(random.nextBoolean() ? 30 : 300)));
        relay.kill();
        producer.stop();
    }

    private Set<String> confirmed() {
        Map<String, History> confirmed = new LinkedHashMap<>(histories);
        confirmed.values().removeIf(history -> history.confirmedEvents() == 0);
        return confirmed.keySet();
    }

    private void assertThatNothingIsLost(RestartingRelay relay, String pipe) throws Exception {
        History history = histories.getOrDefault(pipe, new History());
        RelayHttp http = new RelayHttp(relay.http());
        try (TestConsumer consumer =
                new TestConsumer(pipe, new TestConsumer.Behaviour(10, 0, true), relay::wsPort, history, 1)) {
            Awaitility.await("pipe is drained: pipe=" + pipe + ", seed=" + seed)
                    .atMost(PATIENCE)
                    .until(() -> isDrained(http, pipe));
            long voidIds = http.pipe(pipe).path("voidIds").asLong();
            assertThat(history.faults(voidIds))
                    .as("pipe=%s, seed=%d", pipe, seed)
                    .isEmpty();
            assertThat(consumer.bindings()).isPositive();
        }
    }

    private boolean isDrained(RelayHttp http, String pipe) throws IOException, InterruptedException {
        var status = http.pipe(pipe);
        return status.path("floor").asLong() == status.path("lastId").asLong()
                && histories.getOrDefault(pipe, new History()).unacked().isEmpty();
    }

    private static long seed() {
        long given = Long.getLong("crash.seed", 0);
        return given == 0 ? System.nanoTime() & 0xffff_ffffL : given;
    }
}
