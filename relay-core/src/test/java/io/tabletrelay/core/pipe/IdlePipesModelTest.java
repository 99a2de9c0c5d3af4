package io.tabletrelay.core.pipe;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.core.pipe.SteppedPipes.Stepped;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Ten pipes, two of which may be open, and commands at random: turns, disk work, publishes, acks, late acks, binds and lost
 * connections in any order. Whatever is closed in between: nothing confirmed is lost, nothing acked comes again, ids have no
 * gaps, and there are never more files open than fit.
 */
class IdlePipesModelTest {
    private static final long SECOND = 1_000_000_000L;
    private static final int PIPES = 10;
    private static final int MOST_OPEN = 2;
    private static final int STEPS = 4_000;

    private final Map<Stepped, Expected> expected = new HashMap<>();

    /** What must be true of one pipe. */
    private static final class Expected {
        final Map<String, Answer> published = new TreeMap<>();
        final Set<Long> acked = new HashSet<>();
        final Map<Long, String> delivered = new TreeMap<>();
        int seen;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void noPromiseDependsOnWhichPipesAreOpen(long seed, @TempDir Path folder) throws IOException {
        Random random = new Random(seed);
        try (SteppedPipes all = new SteppedPipes(folder, PIPES, MOST_OPEN, MOST_OPEN)) {
            all.pipes.forEach(pipe -> expected.put(pipe, new Expected()));
            for (int step = 0; step < STEPS; step++) {
                Stepped pipe = all.pipes.get(random.nextInt(PIPES));
                act(pipe, step, random);
                all.nowNanos += random.nextInt(100) == 0 ? SECOND : 1_000;
                look(pipe);
                assertThat(openPipes(all))
                        .as("open pipes, seed %d, step %d", seed, step)
                        .isLessThanOrEqualTo(MOST_OPEN);
                assertThat(all.places.taken())
                        .as("places, seed %d, step %d", seed, step)
                        .isLessThanOrEqualTo(MOST_OPEN);
            }
            for (Stepped pipe : all.pipes) {
                drain(all, pipe);
            }
            for (Stepped pipe : all.pipes) {
                check(pipe, seed);
            }
        }
    }

    private void act(Stepped pipe, int step, Random random) {
        Expected of = Objects.requireNonNull(expected.get(pipe));
        switch (random.nextInt(12)) {
            case 0, 1 -> of.published.put("e" + step, pipe.publish("e" + step));
            case 2, 3, 4 -> pipe.turn();
            case 5, 6, 7 -> pipe.diskStep();
            case 8, 9 -> ackSome(pipe, of, random);
            case 10 -> {
                if (random.nextInt(4) == 0) {
                    pipe.loop.gone(pipe.consumer);
                    pipe.bindAnew();
                }
            }
            default -> {
                CompletableFuture<PipeStatus> asked = new CompletableFuture<>();
                pipe.loop.request(new TransferLoop.Request(
                        open -> asked.complete(pipe.loop.status()), why -> asked.complete(pipe.loop.status())));
            }
        }
    }

    /** Of this connection's events, or of one before. */
    private static void ackSome(Stepped pipe, Expected of, Random random) {
        if (!of.delivered.isEmpty() && pipe.consumer.everBound()) {
            List<Long> ids = List.copyOf(of.delivered.keySet());
            for (int i = 0; i < 5; i++) {
                long id = ids.get(random.nextInt(ids.size()));
                of.acked.add(id);
                pipe.loop.lines(pipe.consumer, Said.acks(id));
            }
        }
    }

    /** An id has one payload for ever; what was acked is not delivered in a turn behind its ack. */
    private void look(Stepped pipe) {
        Expected of = Objects.requireNonNull(expected.get(pipe));
        List<Long> ids = pipe.sink.ids;
        int from = of.seen <= ids.size() ? of.seen : 0;
        for (int i = from; i < ids.size(); i++) {
            String payload = pipe.sink.payloads.get(i);
            assertThat(of.delivered.getOrDefault(ids.get(i), payload)).isEqualTo(payload);
            of.delivered.put(ids.get(i), payload);
        }
        of.seen = ids.size();
    }

    private static long openPipes(SteppedPipes all) {
        return all.pipes.stream().filter(pipe -> pipe.state().equals("OPEN")).count();
    }

    private void drain(SteppedPipes all, Stepped pipe) {
        Expected of = Objects.requireNonNull(expected.get(pipe));
        all.settle();
        for (Stepped each : all.pipes) {
            each.loop.gone(each.consumer);
        }
        all.settle();
        Set<Long> ackedBefore = Set.copyOf(of.acked);
        of.seen = 0;
        pipe.bindAnew();
        RecordingSink sink = pipe.sink;
        sink.onDeliver(id -> pipe.commands.add(() -> pipe.loop.lines(pipe.consumer, Said.acks(id))));
        for (int second = 0; second < 3; second++) {
            all.settle();
            all.nowNanos += 2 * SECOND;
        }
        look(pipe);
        assertThat(sink.ids).as("delivered again after their acks").noneMatch(ackedBefore::contains);
        pipe.loop.gone(pipe.consumer);
        all.settle();
    }

    private void check(Stepped pipe, long seed) throws IOException {
        Expected of = Objects.requireNonNull(expected.get(pipe));
        long ids = 0;
        for (Map.Entry<String, Answer> each : of.published.entrySet()) {
            Answer answer = each.getValue();
            assertThat(answer).as("answer, seed %d", seed).isDone();
            if (!answer.isCompletedExceptionally()) {
                ids++;
                assertThat(of.delivered)
                        .as("confirmed events of %s, seed %d", pipe.name, seed)
                        .containsEntry(answer.join().firstId(), each.getKey());
            }
        }
        assertThat(of.delivered).as("events, seed %d", seed).hasSize((int) ids);
        if (ids > 0) {
            assertThat(of.delivered).containsKeys(1L, ids);
            try (Stream<Path> segments = Files.list(pipe.folder().resolve("events"))) {
                assertThat(segments).as("segments, seed %d", seed).hasSize(1);
            }
        }
    }
}
