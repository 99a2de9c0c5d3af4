package io.tabletrelay.core.store.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whatever happens to one file of a pipe: no other event comes under an id, what is untouched is delivered, what is lost is named,
 * ids go on, and check-data finds it too. Every byte, page and length with the profile {@code damage}, else a sample of them.
 */
class EveryByteDamageTest {
    private static final boolean ALL = Boolean.getBoolean("damage.all");
    private static final long SEED = Long.getLong("damage.seed", new Random().nextInt(1_000_000));
    private static final int SAMPLE = Integer.getInteger("damage.sample", 250);
    private static final int THREADS = ALL ? Runtime.getRuntime().availableProcessors() : 2;
    private static final int CHECKED_ONE_IN = ALL ? 16 : 4;
    private static final int REPAIRED = ALL ? 1_000 : 20;
    private static final Duration TAKES_AT_MOST = Duration.ofSeconds(2);

    @TempDir
    private Path disk;

    private Path folder = Path.of("");
    private StoreLog log = new StoreLog();

    @BeforeEach
    void makeFolder() throws IOException {
        Path memory = Path.of("/dev/shm");
        folder = Files.createTempDirectory(Files.isWritable(memory) ? memory : disk, "damage");
    }

    @AfterEach
    void speakAgain() throws IOException {
        log.close();
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path path : all.sorted(Collections.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }

    @Test
    void aPipeThatWasClosedGivesWhatIsWholeAndNamesTheRest() throws Exception {
        all(false);
    }

    @Test
    void aPipeThatWasKilledGivesWhatIsWholeAndNamesTheRest() throws Exception {
        all(true);
    }

    @Test
    void aRepairedCopyGivesWhatTheDamagedPipeGives() throws Exception {
        DamagedPipe pipe = new DamagedPipe(folder.resolve("data"), true, log);
        List<FileDamage> damages = shuffled(pipe).subList(0, REPAIRED);
        for (int i = 0; i < REPAIRED; i++) {
            pipe.repair(damages.get(i), folder.resolve("copy-" + i));
        }
    }

    private void all(boolean killed) throws Exception {
        List<FileDamage> damages = damages(killed);
        AtomicLong next = new AtomicLong();
        Queue<String> problems = new ConcurrentLinkedQueue<>();
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        long before = System.nanoTime();
        try {
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                Path root = folder.resolve("data-" + killed + i);
                running.add(threads.submit(() -> {
                    suffer(new DamagedPipe(root, killed, log), damages, next, problems);
                    return null;
                }));
            }
            wait(running);
        } finally {
            threads.shutdownNow();
        }
        long millis = Duration.ofNanos(System.nanoTime() - before).toMillis();
        System.out.printf(
                "damages: killed=%s, seed=%d, tried=%d, problems=%d, millis=%d%n",
                killed, SEED, damages.size(), problems.size(), millis);
        problems.forEach(System.out::println);
        assertThat(problems).as("seed=%d", SEED).isEmpty();
    }

    private static void wait(List<Future<?>> running) throws InterruptedException, ExecutionException {
        for (Future<?> each : running) {
            each.get();
        }
    }

    private List<FileDamage> damages(boolean killed) throws IOException {
        List<FileDamage> damages = shuffled(new DamagedPipe(folder.resolve("list-" + killed), killed, log));
        damages.removeIf(damage -> killed && !wasOpen(damage.file()));
        return ALL ? damages : damages.subList(0, SAMPLE);
    }

    /** All else is as in a pipe that was closed. */
    private static boolean wasOpen(Path file) {
        return file.toString().contains("0000000003-") || file.toString().contains("dead-letters");
    }

    private static List<FileDamage> shuffled(DamagedPipe pipe) {
        List<FileDamage> damages = new ArrayList<>(pipe.damages());
        Collections.shuffle(damages, new Random(SEED));
        return damages;
    }

    private static void suffer(DamagedPipe pipe, List<FileDamage> damages, AtomicLong next, Queue<String> problems)
            throws IOException {
        for (int i = (int) next.getAndIncrement(); i < damages.size(); i = (int) next.getAndIncrement()) {
            FileDamage damage = damages.get(i);
            long before = System.nanoTime();
            try {
                pipe.suffer(damage, i % CHECKED_ONE_IN == 0);
            } catch (AssertionError | RuntimeException e) {
                if (problems.size() < 100) {
                    problems.add(e instanceof AssertionError ? String.valueOf(e.getMessage()) : damage + ": " + e);
                }
            }
            Duration took = Duration.ofNanos(System.nanoTime() - before);
            if (took.compareTo(TAKES_AT_MOST) > 0) {
                problems.add(damage + ": took " + took);
            }
            if (ALL && i % 20_000 == 0) {
                System.out.printf("damages: %d of %d, problems=%d%n", i, damages.size(), problems.size());
            }
        }
    }
}
