package io.tabletrelay.core.store.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.core.store.EventTailer;
import io.tabletrelay.core.store.IdRange;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process that dies at any moment loses nothing that it confirmed: SIGKILL leaves what is in the page cache. */
class KillTest {
    private static final int KILLS = Integer.getInteger("relay.kills", 10);

    @TempDir
    Path folder;

    /** What one process said it had appended: serial to first id. */
    private final Map<Integer, Map<Integer, IdRange>> confirmed = new HashMap<>();

    @Test
    void whatWasConfirmedIsThereAfterEachOfManyKills() throws Exception {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        List<Long> openMicros = new ArrayList<>();

        for (int run = 1; run <= KILLS; run++) {
            confirmed.put(run, runAndKill(run, random));
            long before = System.nanoTime();
            try (ChronicleEventLog log = KilledWriter.open(folder)) {
                openMicros.add((System.nanoTime() - before) / 1000);
                check(log, run, seed);
            }
        }

        openMicros.sort(null);
        long events = confirmed.values().stream().mapToLong(Map::size).sum();
        System.out.printf(
                "kills %d, publishes confirmed %d, lost 0, reopen p50 %d us, max %d us, seed %d%n",
                KILLS, events, openMicros.get(KILLS / 2), openMicros.get(KILLS - 1), seed);
        assertThat(events).isGreaterThan(KILLS);
    }

    private Map<Integer, IdRange> runAndKill(int run, Random random) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(argument -> argument.startsWith("--add"))
                .forEach(command::add);
        command.addAll(
                List.of("-XX:TieredStopAtLevel=1", "-Xshare:auto", "-cp", System.getProperty("java.class.path")));
        command.addAll(List.of(KilledWriter.class.getName(), folder.toString(), "" + run, "" + random.nextLong()));
        Process process = new ProcessBuilder(command)
                .redirectError(folder.resolve("stderr-" + run).toFile())
                .start();
        Map<Integer, IdRange> ids = new TreeMap<>();
        try (BufferedReader lines = process.inputReader()) {
            int publishes = random.nextInt(400);
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String[] fields = line.split(" ", -1);
                if (fields.length == 3 && !fields[2].isEmpty()) {
                    long firstId = Long.parseLong(fields[1]);
                    ids.put(Integer.parseInt(fields[0]), new IdRange(firstId, firstId + Long.parseLong(fields[2]) - 1));
                }
                if (ids.size() == publishes + 1) {
                    process.waitFor(random.nextInt(20), TimeUnit.MILLISECONDS);
                    process.toHandle().destroyForcibly(); // leaves what it printed to be read
                }
            }
        }
        assertThat(process.waitFor())
                .as(Files.readString(folder.resolve("stderr-" + run)))
                .isEqualTo(137);
        return ids;
    }

    private void check(ChronicleEventLog log, int lastRun, long seed) {
        TestLog.Read read;
        try (EventTailer tailer = log.openTailer()) {
            read = TestLog.readAll(tailer);
        }
        assertThat(read.damaged()).as("seed %d", seed).isEmpty();
        assertThat(read.events().size() + log.voidIds()).isEqualTo(log.lastId());
        Map<String, Integer> members = new HashMap<>();
        Map<String, Integer> sizes = new HashMap<>();
        read.events().values().forEach(text -> {
            String[] fields = text.split(" ", 5);
            String publish = fields[0] + " " + fields[1];
            assertThat(members.merge(publish, 1, Integer::sum)).isEqualTo(Integer.parseInt(fields[2]));
            sizes.put(publish, Integer.parseInt(fields[3]));
        });
        assertThat(members).as("no group is cut short, seed %d", seed).isEqualTo(sizes);
        confirmed.forEach((run, publishes) -> publishes.forEach((serial, ids) -> {
            assertThat(read.events().get(ids.first())).startsWith(run + " " + serial + " 1 ");
            assertThat(read.events().get(ids.last())).startsWith(run + " " + serial + " " + ids.size() + " ");
        }));
        confirmed
                .getOrDefault(lastRun, Map.of())
                .forEach((serial, ids) ->
                        assertThat(log.lastSequence("run-" + lastRun)).isGreaterThanOrEqualTo(serial));
        assertThat(log.idsOf(new ProducerSequence("run-" + lastRun, log.lastSequence("run-" + lastRun))))
                .isNotNull();
    }
}
