package io.tabletrelay.core.store.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.tabletrelay.core.store.ChildJvm;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.EventTailer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** BR-014, BR-015: SIGKILL at the moment when one of a new segment's files appears, or shortly after. */
class RollKillTest {
    private static final int KILLS = Integer.getInteger("relay.roll-kills", 20);
    private static final int KILLS_OF_ONE_LOG = 20;
    private static final List<String> STEPS = List.of("", "metadata.cq4t", ".cq4", "allocated", "born");

    @TempDir
    Path folder;

    private final long seed = new Random().nextLong();
    private final Random random = new Random(seed);
    private final Map<Long, String> confirmed = new HashMap<>();
    private int halfBorn;

    @Test
    void whatWasConfirmedIsThereAfterKillsAtTheBirthOfASegment() throws IOException {
        long events = 0;
        for (int kill = 0; kill < KILLS; kill++) {
            Path log = Files.createDirectories(folder.resolve("log-" + kill / KILLS_OF_ONE_LOG));
            if (kill % KILLS_OF_ONE_LOG == 0) {
                confirmed.clear();
            }

            runAndKill(log, kill);

            events += checkAndAppend(log, kill);
        }
        System.out.printf(
                "kills at a roll %d, in a half-born segment %d, events confirmed %d, lost 0, seed %d%n",
                KILLS, halfBorn, events, seed);
        assertThat(halfBorn).as("kills that met a half-born segment").isGreaterThan(KILLS / 10);
    }

    private void runAndKill(Path log, int kill) throws IOException {
        Path events = log.resolve("events");
        String step = STEPS.get(kill % STEPS.size());
        int segment = newest(events) + 1 + random.nextInt(3);
        long delayNanos = random.nextBoolean() ? 0 : random.nextInt((int) TimeUnit.MILLISECONDS.toNanos(3));
        try (ChildJvm child =
                ChildJvm.start(ChildJvm.moduleOptions(), RollingWriter.class, log.toString(), "run-" + kill)) {
            ProcessHandle process = ProcessHandle.of(child.pid()).orElseThrow();
            await("segment is being born")
                    .pollInSameThread()
                    .pollDelay(Duration.ZERO)
                    .pollInterval(Duration.ofNanos(1))
                    .atMost(Duration.ofSeconds(30))
                    .until(() -> isAt(events, segment, step));
            LockSupport.parkNanos(delayNanos);
            process.destroyForcibly(); // leaves what it printed to be read
            process.onExit().orTimeout(30, TimeUnit.SECONDS).join();
            halfBorn += isAt(events, newest(events), "born") ? 0 : 1;
            for (String line = child.readLine(); !line.isEmpty(); line = child.readLine()) {
                String[] fields = line.split(" ", 2);
                confirm(Long.parseLong(fields[0]), fields[1]);
            }
        }
    }

    private long checkAndAppend(Path folder, int kill) {
        long before = System.nanoTime();
        try (ChronicleEventLog log = KilledWriter.open(folder)) {
            assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(2));
            check(log);
            String name = "parent-" + kill + " ";
            EventGroup group = TestLog.group(null, name);
            log.makeRoomFor(group);
            confirm(log.append(group), name);
            check(log);
            return confirmed.size();
        }
    }

    private void check(ChronicleEventLog log) {
        try (EventTailer tailer = log.openTailer()) {
            TestLog.Read read = TestLog.readAll(tailer);
            assertThat(read.damaged()).as("seed %d", seed).isEmpty();
            assertThat(read.events().size() + log.voidIds()).isEqualTo(log.lastId());
            confirmed.forEach((id, name) -> assertThat(read.events().get(id))
                    .as("id %d, seed %d", id, seed)
                    .startsWith(name));
        }
    }

    private void confirm(long id, String name) {
        assertThat(confirmed.put(id, name))
                .as("id %d is given once, seed %d", id, seed)
                .isNull();
    }

    private static boolean isAt(Path events, int segment, String step) throws IOException {
        for (Path path : list(events)) {
            SegmentFolder found = SegmentFolder.parse(path);
            if (found != null && found.number() == segment) {
                return step.isEmpty()
                        || list(path).stream().anyMatch(file -> file.toString().endsWith(step));
            }
        }
        return false;
    }

    private static int newest(Path events) throws IOException {
        return list(events).stream()
                .map(SegmentFolder::parse)
                .mapToInt(found -> found == null ? 0 : found.number())
                .max()
                .orElse(0);
    }

    private static List<Path> list(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> all = Files.list(folder)) {
            return all.toList();
        }
    }
}
