package io.tabletrelay.harness.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.tabletrelay.core.client.RelayHttp;
import io.tabletrelay.harness.Feed;
import io.tabletrelay.harness.History;
import io.tabletrelay.harness.RelayProcess;
import io.tabletrelay.harness.RestartingRelay;
import io.tabletrelay.harness.TestConsumer;
import io.tabletrelay.harness.TestProducer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** A small pipe, that deletes segments all the time, is killed at random moments: mvn -Pstorage. */
@EnabledIfSystemProperty(named = "storage.full", matches = "true", disabledReason = "runs with -Pstorage")
class KilledDeletionIT {
    private static final String PIPE = "orders";
    private static final int WINDOW_EVENTS = 10;
    private static final int KILLS = 40;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final History history = new History();
    private final long seed = System.nanoTime() & 0xffff_ffffL;
    private final Random random = new Random(seed);

    @TempDir
    private Path data;

    @Test
    void nothingIsLostMiscountedOrGivenTwice() throws Exception {
        TestConsumer.Behaviour behaviour = new TestConsumer.Behaviour(WINDOW_EVENTS, 3, false);
        try (RestartingRelay relay =
                        new RestartingRelay(run -> RelayProcess.serve(data, "--max-bytes=4MiB", "--disk-reserve=0"));
                TestConsumer consumer = new TestConsumer(PIPE, behaviour, relay::wsPort, history, random.nextLong())) {
            relay.awaitReady(PATIENCE);
            try (TestProducer producer = new TestProducer(feed(), relay::http, history)) {
                for (int kill = 1; kill <= KILLS; kill++) {
                    relay.awaitReady(PATIENCE);
                    relay.current().runFor(Duration.ofMillis(random.nextInt(1_500)));
                    relay.kill();
                    relay.start();
                }
                relay.awaitReady(PATIENCE);
                producer.finish(PATIENCE);
            }

            RelayHttp http = new RelayHttp(relay.http());
            JsonNode status = await("drained; seed=" + seed)
                    .atMost(PATIENCE)
                    .until(
                            () -> http.pipe(PIPE),
                            now -> now.path("floor").asLong()
                                            == now.path("lastId").asLong()
                                    && history.unacked().isEmpty());

            long voids = status.path("voidIds").asLong(-1);
            assertThat(history.faults(voids))
                    .as("broken promises; seed=" + seed)
                    .isEmpty();
            assertThat(status.path("settled").asLong())
                    .isEqualTo(status.path("lastId").asLong() - voids);
            assertThat(status.path("firstId").asLong())
                    .as("segments were deleted")
                    .isGreaterThan(1);
            assertThat(status.path("diskBytes").asLong()).isLessThan(5 << 20);
            assertThat(consumer.bindings()).isPositive();
            System.out.printf(
                    "killed deletions: seed=%d, kills=%d, confirmed=%d, first id kept=%d, last id=%d, void=%d%n",
                    seed,
                    KILLS,
                    history.confirmedEvents(),
                    status.path("firstId").asLong(),
                    status.path("lastId").asLong(),
                    voids);
        }
    }

    private static Feed feed() {
        return new Feed(PIPE, "one", "json", KilledDeletionIT::payload, true, Long.MAX_VALUE, Duration.ZERO);
    }

    private static ByteBuffer payload(long sequence) {
        String json = "{\"n\":" + sequence + ",\"pad\":\"" + "x".repeat((int) (sequence * 7_919 % 90_000)) + "\"}";
        return ByteBuffer.wrap(json.getBytes(StandardCharsets.UTF_8));
    }
}
