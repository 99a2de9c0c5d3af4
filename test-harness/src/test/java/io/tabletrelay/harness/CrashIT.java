package io.tabletrelay.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.tabletrelay.core.client.RelayHttp;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Kills the relay with SIGKILL at random moments, again and again on one data folder, while publishers over HTTP and one
 * inside of the killed process publish and a consumer acks at random. Proves what a crash of the process does, not a
 * power cut: the page cache stays.
 *
 * <p>System properties: {@code crash.kills}, {@code crash.seed} (0 picks one; it is printed).
 */
class CrashIT {
    private static final String PIPE = "crash";
    private static final int WINDOW_EVENTS = 10;
    private static final Duration READY = Duration.ofSeconds(60);
    private static final Duration DRAIN = Duration.ofMinutes(2);

    private final int kills = Integer.getInteger("crash.kills", 10);
    private final long seed = seed();
    private final Random random = new Random(seed);
    private final History history = new History();
    private int killsBeforeReady;

    @TempDir
    private Path data;

    @Test
    void promisesHoldWhenTheRelayIsKilledAtRandomMoments() throws Exception {
        List<TestProducer> producers = new ArrayList<>();
        try (RestartingRelay relay = new RestartingRelay(this::startRun);
                TestConsumer consumer = new TestConsumer(
                        PIPE,
                        new TestConsumer.Behaviour(WINDOW_EVENTS, 3, false),
                        relay::wsPort,
                        history,
                        random.nextLong())) {
            relay.awaitReady(READY);
            producers.add(new TestProducer(feed("first"), relay::http, history));
            producers.add(new TestProducer(feed("second"), relay::http, history));
            for (int kill = 1; kill <= kills; kill++) {
                killAtARandomMoment(relay);
            }
            for (TestProducer producer : producers) {
                producer.finish(READY);
            }
            startQuiet(relay);
            JsonNode status = awaitDrained(relay);
            report(relay, status, consumer.bindings());
            check(status);
        } catch (ConditionTimeoutException e) {
            throw new AssertionError("not drained; also, gaps that are still to come aside: " + history.faults(0), e);
        } finally {
            producers.forEach(TestProducer::close);
        }
    }

    /** Odd runs embed the relay and publish inside of it, even runs are the plain command. */
    private RelayProcess startRun(int run) throws IOException {
        if (run % 2 == 0) {
            return RelayProcess.serve(data);
        }
        return RelayProcess.start(
                EmbeddedRelay.class.getName(),
                List.of(data.toString(), PIPE, "run-" + run),
                line -> EmbeddedRelay.record(line, history));
    }

    private void killAtARandomMoment(RestartingRelay relay) throws Exception {
        boolean duringStart = random.nextInt(5) == 0;
        if (!duringStart) {
            relay.awaitReady(READY);
        } else {
            killsBeforeReady++;
        }
        int mostMillis = duringStart ? 1_500 : random.nextInt(4) == 0 ? 3_000 : 1_000;
        relay.current().runFor(Duration.ofMillis(random.nextInt(mostMillis)));
        relay.kill();
        relay.start();
    }

    /** The last run publishes nothing itself, so that it can be drained. */
    private void startQuiet(RestartingRelay relay) throws Exception {
        relay.kill();
        relay.start();
        if (relay.runs() % 2 == 1) {
            relay.kill();
            relay.start();
        }
        relay.awaitReady(READY);
        TestProducer last = new TestProducer(
                new Feed(PIPE, "last", "json", sequence -> payload("last", sequence), true, 1, Duration.ZERO),
                relay::http,
                history);
        last.awaitEnd(READY);
    }

    private JsonNode awaitDrained(RestartingRelay relay) {
        RelayHttp http = new RelayHttp(relay.http());
        return await("pipe is drained; " + rerun())
                .atMost(DRAIN)
                .pollInterval(Duration.ofMillis(100))
                .until(
                        () -> http.pipe(PIPE),
                        status -> status.path("floor").asLong()
                                        == status.path("lastId").asLong()
                                && history.unacked().isEmpty());
    }

    private void check(JsonNode status) {
        assertThat(history.faults(status.path("voidIds").asLong()))
                .as("broken promises; %s", rerun())
                .isEmpty();
        assertThat(history.confirmedEvents()).as("confirmed events").isGreaterThan(kills);
        assertThat(status.path("deadLetters").asLong(-1)).as("dead letters").isZero();
        assertThat(history.acksRead()).as("acks that were certainly read").isPositive();
    }

    private void report(RestartingRelay relay, JsonNode status, int bindings) {
        List<Duration> starts = relay.startsToReady();
        System.out.printf(
                "crash: seed=%d, kills=%d (before ready: %d), confirmed=%d, delivered=%d, redelivered=%d, acks read=%d,"
                        + " void=%d, consumer connections=%d, start to ready p50=%d ms, p99=%d ms%n",
                seed,
                kills,
                killsBeforeReady,
                history.confirmedEvents(),
                history.deliveredEvents(),
                history.deliveries() - history.deliveredEvents(),
                history.acksRead(),
                status.path("voidIds").asLong(),
                bindings,
                starts.get(starts.size() / 2).toMillis(),
                starts.get(starts.size() * 99 / 100).toMillis());
    }

    private String rerun() {
        return "run again with: mvn -B verify -Dcrash.kills=" + kills + " -Dcrash.seed=" + seed;
    }

    private static Feed feed(String producer) {
        return new Feed(
                PIPE, producer, "json", sequence -> payload(producer, sequence), true, Long.MAX_VALUE, Duration.ZERO);
    }

    private static ByteBuffer payload(String producer, long sequence) {
        String json =
                "{\"producer\":\"" + producer + "\",\"n\":" + sequence + ",\"pad\":\"" + Padding.of(sequence) + "\"}";
        return ByteBuffer.wrap(json.getBytes(StandardCharsets.UTF_8));
    }

    private static long seed() {
        long given = Long.getLong("crash.seed", 0);
        return given == 0 ? System.nanoTime() & 0xffff_ffffL : given;
    }
}
