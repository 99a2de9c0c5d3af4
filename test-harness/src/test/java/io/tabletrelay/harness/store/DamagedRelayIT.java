package io.tabletrelay.harness.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.tabletrelay.core.client.RelayHttp;
import io.tabletrelay.harness.RawClient;
import io.tabletrelay.harness.RelayProcess;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A relay that starts on a data directory of which one file is damaged, at a random place: 30 times with the profile {@code damage}. */
class DamagedRelayIT {
    private static final String PIPE = "orders";
    private static final int EVENTS_OF_RUN = 10;
    private static final int EVENTS = 3 * EVENTS_OF_RUN;
    private static final int USED_BYTES = 24_000;
    private static final int PAGE_BYTES = 4096;
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    /** A pipe that cannot be opened leaves its consumer waiting until it can. */
    private static final Duration ANSWERS_WITHIN = Duration.ofSeconds(15);

    private static final Duration STOPS_WITHIN = Duration.ofSeconds(10);
    private static final int DAMAGES = Integer.getInteger("damage.relays", 3);
    private static final long GIVEN_SEED = Long.getLong("damage.seed", 0);

    @TempDir
    private Path folder;

    private final long seed = GIVEN_SEED == 0 ? new Random().nextInt(1_000_000) : GIVEN_SEED;
    private final Random random = new Random(seed);

    /** What happens to a file. */
    private enum Kind {
        FLIP,
        ZEROED_PAGE,
        CUT,
        EMPTY,
        GONE
    }

    @Test
    void itStartsDeliversWhatIsWholeRestsAndStops() throws Exception {
        Path data = folder.resolve("data");
        for (int run = 0; run < 3; run++) {
            runAndAckEveryThird(data, 1 + run * EVENTS_OF_RUN);
        }
        System.out.printf("damaged relays: seed=%d, damages=%d%n", seed, DAMAGES);
        for (int i = 0; i < DAMAGES; i++) {
            Path copy = folder.resolve("copy");
            Command.run("cp", "-a", "--sparse=always", data.toString(), copy.toString());
            Path file = anyFile(copy);
            Kind kind = Kind.values()[random.nextInt(Kind.values().length)];
            String what = damage(file, kind) + ", seed=" + seed + ", number=" + i;
            System.out.println("damaged: " + what);
            start(copy, file, what);
            Command.run("rm", "-r", copy.toString());
        }
    }

    private void start(Path data, Path file, String what) throws Exception {
        try (RelayProcess relay = RelayProcess.serve(data, "--pipe-window=100")) {
            relay.awaitReady(PATIENCE);
            Set<Long> delivered = new HashSet<>();
            try (RawClient consumer = RawClient.connect(relay.wsPort())) {
                consumer.sendText("BIND:" + PIPE);
                RawClient.Frame answer = consumer.read(ANSWERS_WITHIN);
                if (answer != null
                        && answer.opcode() == RawClient.TEXT
                        && answer.text().equals("READY")) {
                    long next = publish(relay, EVENTS + 1);
                    assertThat(next).as(what).isGreaterThan(EVENTS);
                    deliverUpTo(next, consumer, delivered, what);
                    assertThatTheRestIsNamed(delivered, file, relay, what);
                } else {
                    assertThat(file.toString()).as(what).endsWith("pipe.json");
                    assertThat(String.join("\n", relay.output())).as(what).contains("pipe.json");
                }
                awaitRest(relay, what);
            }
            assertThat(relay.terminate(STOPS_WITHIN)).as(what).isZero();
        }
    }

    private static void deliverUpTo(long last, RawClient consumer, Set<Long> delivered, String what)
            throws IOException {
        long id = 0;
        while (id != last) {
            RawClient.Frame frame = consumer.next(PATIENCE);
            if (frame.opcode() == RawClient.BINARY) {
                id = frame.eventId();
                long number = id == last ? EVENTS + 1 : id;
                assertThat(StandardCharsets.UTF_8.decode(frame.event()).toString())
                        .as(what)
                        .isEqualTo("{\"n\":" + number + "}");
                delivered.add(id);
            }
        }
    }

    /** A segment's events at most are lost, and only if its file is what was damaged. */
    private static void assertThatTheRestIsNamed(Set<Long> delivered, Path file, RelayProcess relay, String what) {
        Set<Long> missing = new HashSet<>();
        for (long id = 1; id <= EVENTS; id++) {
            if (id % 3 != 0 && !delivered.contains(id)) {
                missing.add(id);
            }
        }
        if (missing.isEmpty()) {
            return;
        }
        String segment = String.valueOf(file.getParent());
        assertThat(file.toString()).as("%s, missing=%s", what, missing).endsWith(".cq4");
        assertThat(relay.output()).as(what).anyMatch(line -> line.contains("damaged") && line.contains(segment));
        assertThat(missing.stream().map(id -> (id - 1) / EVENTS_OF_RUN).distinct())
                .as("%s, missing=%s", what, missing)
                .hasSize(1);
        boolean isFlip = what.contains(Kind.FLIP.name());
        assertThat(missing.size()).as("%s, missing=%s", what, missing).isLessThanOrEqualTo(isFlip ? 1 : EVENTS_OF_RUN);
    }

    /** No thread works without end: in some second the process uses less than a tenth of one CPU. */
    private static void awaitRest(RelayProcess relay, String what) throws InterruptedException {
        Duration used = Duration.ofDays(1);
        for (int second = 0; second < 20 && used.toMillis() >= 100; second++) {
            Duration before = relay.cpuTime();
            relay.runFor(Duration.ofSeconds(1));
            used = relay.cpuTime().minus(before);
        }
        assertThat(used).as(what).isLessThan(Duration.ofMillis(100));
    }

    private Path anyFile(Path data) throws IOException {
        try (Stream<Path> all = Files.walk(data)) {
            List<Path> files = all.filter(Files::isRegularFile).sorted().toList();
            return files.get(random.nextInt(files.size()));
        }
    }

    /** Returns what was done. */
    private String damage(Path file, Kind kind) throws IOException {
        int used = (int) Math.max(1, Math.min(USED_BYTES, Files.size(file)));
        int at = random.nextInt(used);
        if (kind == Kind.GONE) {
            Files.delete(file);
        } else {
            try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
                damage(open, kind, at);
            }
        }
        return "file=" + file + ", kind=" + kind + ", at=" + at;
    }

    private void damage(RandomAccessFile open, Kind kind, int at) throws IOException {
        switch (kind) {
            case FLIP -> {
                open.seek(at);
                int octet = Math.max(0, open.read());
                open.seek(at);
                open.write(octet ^ 1 << random.nextInt(8));
            }
            case ZEROED_PAGE -> {
                int page = at / PAGE_BYTES * PAGE_BYTES;
                open.seek(page);
                open.write(new byte[(int) Math.min(PAGE_BYTES, open.length() - page)]);
            }
            default -> open.setLength(kind == Kind.CUT ? at : 0);
        }
    }

    private static void runAndAckEveryThird(Path data, int first) throws Exception {
        int last = first + EVENTS_OF_RUN - 1;
        try (RelayProcess relay = RelayProcess.serve(data, "--pipe-window=100")) {
            relay.awaitReady(PATIENCE);
            for (int n = first; n <= last; n++) {
                assertThat(publish(relay, n)).isEqualTo(n);
            }
            try (RawClient consumer = RawClient.connect(relay.wsPort())) {
                consumer.sendText("BIND:" + PIPE);
                assertThat(consumer.next(PATIENCE).text()).isEqualTo("READY");
                for (long id = 0; id < last; ) {
                    id = consumer.next(PATIENCE).eventId();
                    if (id % 3 == 0) {
                        consumer.sendText("ACK:" + id);
                    }
                }
                int unsettled = last - last / 3;
                RelayHttp http = new RelayHttp(relay.http());
                await().atMost(PATIENCE)
                        .until(() -> http.pipe(PIPE).path("inFlight").asInt() == unsettled);
            }
            assertThat(relay.terminate(PATIENCE)).isZero();
        }
    }

    private static long publish(RelayProcess relay, int n) throws Exception {
        ByteBuffer body = ByteBuffer.wrap(("{\"n\":" + n + "}").getBytes(StandardCharsets.UTF_8));
        return new RelayHttp(relay.http())
                .publish(PIPE, "json", Map.of(), body, null)
                .firstId();
    }
}
