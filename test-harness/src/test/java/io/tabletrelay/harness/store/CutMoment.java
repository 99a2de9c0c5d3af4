package io.tabletrelay.harness.store;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Waits for the moment at which the power shall go. What does not come in time is waited for no longer.
 *
 * <p>Threading: used by the test's thread.
 */
final class CutMoment {
    private static final Duration LONGEST = Duration.ofMillis(1_500);
    private static final int MOST_EXTRA_MICROS = 3_000;

    private final Path data;
    private final List<PowerPipe> pipes;
    private final Random random;

    CutMoment(Path data, List<PowerPipe> pipes, Random random) {
        this.data = data;
        this.pipes = pipes;
        this.random = random;
    }

    void await(CutPlan.Moment moment, PoweredRelay relay, List<PowerPipe> young) throws Exception {
        String level = random.nextBoolean() ? "disk" : "process";
        switch (moment) {
            case RANDOM -> TimeUnit.MILLISECONDS.sleep(random.nextInt(200));
            case ROLL -> awaitChange(() -> segments("large-" + level));
            case GROWTH -> {
                Path ring = pipe("many-" + level).resolve("subscriptions/default.settled.tmp");
                awaitChange(() -> Files.exists(ring));
            }
            case MARK ->
                awaitChange(() -> Files.readAttributes(
                                pipe("many-" + level).resolve("pipe.json"), BasicFileAttributes.class)
                        .fileKey());
            case IDLE -> awaitSilence();
            case BIRTH -> birth(relay, young);
        }
        TimeUnit.MICROSECONDS.sleep(random.nextInt(MOST_EXTRA_MICROS));
    }

    private void awaitSilence() throws Exception {
        for (PowerPipe pipe : pipes) {
            pipe.stopProducers();
        }
        long endNanos = System.nanoTime() + LONGEST.toNanos();
        while (System.nanoTime() < endNanos
                && pipes.stream().anyMatch(pipe -> !pipe.history().unacked().isEmpty())) {
            TimeUnit.MILLISECONDS.sleep(5);
        }
        TimeUnit.MILLISECONDS.sleep(random.nextInt(100));
    }

    /** At the first event of any of them. */
    private void birth(PoweredRelay relay, List<PowerPipe> young) throws Exception {
        for (PowerPipe pipe : young) {
            pipe.make(relay.http());
            pipe.start(relay.http(), relay.process()::wsPort, 0, 10, random);
        }
        awaitChange(() -> young.stream().anyMatch(pipe -> pipe.confirmedGroups() > 0));
    }

    private void awaitChange(Callable<Object> what) throws Exception {
        Object before = now(what);
        long endNanos = System.nanoTime() + LONGEST.toNanos();
        while (System.nanoTime() < endNanos && before.equals(now(what))) {
            TimeUnit.MICROSECONDS.sleep(200);
        }
    }

    /** A file that is being replaced may be gone for a moment. */
    private static Object now(Callable<Object> what) throws Exception {
        try {
            return what.call();
        } catch (IOException | UncheckedIOException e) {
            return "none";
        }
    }

    private Object segments(String name) throws IOException {
        try (Stream<Path> all = Files.list(pipe(name).resolve("events"))) {
            return all.count();
        }
    }

    private Path pipe(String name) {
        return data.resolve("pipes").resolve(name);
    }
}
