package io.tabletrelay.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.tabletrelay.core.client.RelayHttp;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Kills the relay with SIGKILL at random moments while producers of dialect 2 publish and two subscriptions consume, and
 * ack with ACKTO.
 *
 * <p>System properties: {@code crash.dialect2.kills}, {@code crash.seed} (0 picks one; it is printed).
 */
class Dialect2CrashIT {
    private static final String PIPE = "crash2";
    private static final Duration READY = Duration.ofSeconds(60);
    private static final Duration DRAIN = Duration.ofMinutes(2);

    private final int kills = Integer.getInteger("crash.dialect2.kills", 5);
    private final long given = Long.getLong("crash.seed", 0);
    private final long seed = given == 0 ? System.nanoTime() & 0xffff_ffffL : given;
    private final Random random = new Random(seed);
    private final History one = new History();
    private final History two = new History();

    @TempDir
    private Path data;

    @Test
    void promisesOfDialect2HoldWhenTheRelayIsKilledAtRandomMoments() throws Exception {
        try (RestartingRelay relay = RestartingRelay.serving(data)) {
            relay.awaitReady(READY);
            new RelayHttp(relay.http()).createPipe(PIPE, Map.of());
            try (Dialect2Consumer first = consumer(relay, "one", one);
                    Dialect2Consumer second = consumer(relay, "two", two);
                    Dialect2Producer x = new Dialect2Producer(PIPE, "x", relay::wsPort, one);
                    Dialect2Producer y = new Dialect2Producer(PIPE, "y", relay::wsPort, one)) {
                for (int kill = 1; kill <= kills; kill++) {
                    killAtARandomMoment(relay);
                }
                relay.awaitReady(READY);
                x.finish(READY);
                y.finish(READY);
                JsonNode status = awaitDrained(relay);
                report(relay, status, List.of(x, y), List.of(first, second));
                check(status, List.of(x, y), List.of(first, second));
            }
        }
    }

    private Dialect2Consumer consumer(RestartingRelay relay, String subscription, History history) {
        return new Dialect2Consumer(
                PIPE + "?subscription=" + subscription + "&window=500&batch=32&confirm=acks",
                relay::wsPort,
                history,
                random.nextLong());
    }

    private void killAtARandomMoment(RestartingRelay relay) throws Exception {
        boolean duringStart = random.nextInt(8) == 0;
        if (!duringStart) {
            relay.awaitReady(READY);
        }
        relay.current().runFor(Duration.ofMillis(random.nextInt(1_500)));
        relay.kill();
        relay.start();
    }

    private JsonNode awaitDrained(RestartingRelay relay) {
        RelayHttp http = new RelayHttp(relay.http());
        try {
            return await("pipe is drained; seed " + seed)
                    .atMost(DRAIN)
                    .pollInterval(Duration.ofMillis(100))
                    .until(
                            () -> http.pipe(PIPE),
                            status -> status.path("floor").asLong()
                                    == status.path("lastId").asLong());
        } catch (ConditionTimeoutException e) {
            throw new AssertionError("not drained: " + one.faultsSoFar() + two.faultsSoFar(), e);
        }
    }

    private void check(JsonNode status, List<Dialect2Producer> producers, List<Dialect2Consumer> consumers) {
        long voidIds = status.path("voidIds").asLong();
        assertThat(one.faults(voidIds)).as("subscription one, seed %d", seed).isEmpty();
        assertThat(two.faults(voidIds)).as("subscription two, seed %d", seed).isEmpty();
        for (Dialect2Consumer consumer : consumers) {
            Map<String, Long> lastByProducer = new HashMap<>();
            consumer.received()
                    .forEach((id, source) -> assertThat(source.getValue())
                            .as("id %d of %s follows, seed %d", id, source.getKey(), seed)
                            .isEqualTo(lastByProducer.merge(source.getKey(), 1L, Long::sum)));
            for (Dialect2Producer producer : producers) {
                assertThat(lastByProducer.get(producer.name()))
                        .as("events of %s, seed %d", producer.name(), seed)
                        .isEqualTo(producer.stored());
            }
        }
        assertThat(one.acksRead()).isPositive();
        assertThat(two.acksRead()).isPositive();
    }

    private void report(
            RestartingRelay relay,
            JsonNode status,
            List<Dialect2Producer> producers,
            List<Dialect2Consumer> consumers) {
        System.out.printf(
                "crash of dialect 2: seed=%d, kills=%d, stored=%s, delivered=%d and %d, redelivered=%d and %d,"
                        + " acks read=%d and %d, void=%d, bindings=%s, start to ready p50=%d ms%n",
                seed,
                kills,
                producers.stream().map(Dialect2Producer::stored).toList(),
                one.deliveredEvents(),
                two.deliveredEvents(),
                one.deliveries() - one.deliveredEvents(),
                two.deliveries() - two.deliveredEvents(),
                one.acksRead(),
                two.acksRead(),
                status.path("voidIds").asLong(),
                consumers.stream().map(Dialect2Consumer::bindings).toList(),
                relay.startsToReady().get(relay.startsToReady().size() / 2).toMillis());
    }
}
