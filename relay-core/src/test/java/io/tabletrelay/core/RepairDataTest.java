package io.tabletrelay.core;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.core.store.folder.DataDirectory;
import io.tabletrelay.core.store.folder.SubscriptionFiles;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** What check-data --repair makes is a data directory that a relay goes on with. */
class RepairDataTest {
    private static final int EVENTS = 200;

    @TempDir
    private Path folder;

    private TestData data;
    private TestData copy;

    @BeforeEach
    void write() {
        logger().setLevel(Level.OFF);
        data = new TestData(folder.resolve("data"));
        copy = new TestData(folder.resolve("copy"));
        data.write("plant", EVENTS);
    }

    @AfterEach
    void speakAgain() {
        logger().setLevel(null);
    }

    @Test
    void aSoundDirectoryIsCopied() throws IOException {
        data.write("mill", 3);
        try (DataDirectory directory = data.directory()) {
            directory.delete(new PipeName("mill"));
        }

        CommandRun run = repair();

        assertThat(run.exitCode()).as(run.out()).isZero();
        assertThat(run.out()).doesNotContain("repaired:").contains("events=200; sound");
        assertThat(copy.path().resolve("tombstones/mill.json")).exists();
        goesOnWith(Map.of());
    }

    @Test
    void eventsThatAreLostBecomeVoidAndAllOthersKeepTheirIds() throws IOException {
        Path segment = data.files("plant", ".cq4").get(0);
        TestData.flip(segment, "event 40");
        TestData.flip(segment, "event 41");
        TestData.flip(segment, "event 100");
        TestData.flip(segment, "event 200");

        CommandRun run = repair();

        assertThat(run.exitCode()).as(run.out() + run.err()).isZero();
        assertThat(run.out())
                .contains("repaired: pipe=plant, file=pipes/plant/events/0000000001-1: lost, ids=40 to 41, void")
                .contains("repaired: pipe=plant, file=events: written anew, events=196, lost=4")
                .contains("events=196; sound");
        goesOnWith(lost(40, 41, 100, 200));
    }

    @Test
    void theDirectoryItselfIsNotChanged() throws IOException {
        TestData.flip(data.files("plant", ".cq4").get(0), "event 40");
        Map<String, String> before = TestData.digest(data.path());

        CommandRun dry = CommandRun.of(
                "check-data",
                "--dry-run",
                "--repair=" + copy.path(),
                data.path().toString());
        assertThat(dry.exitCode()).isEqualTo(6);
        assertThat(dry.out()).contains("would repair: pipe=plant, file=events: written anew");
        assertThat(copy.path()).doesNotExist();
        repair();

        assertThat(TestData.digest(data.path())).isEqualTo(before);
    }

    @Test
    void aPipeFileIsMadeFromWhatThePipeWasBornAs() throws IOException {
        Files.writeString(data.path().resolve("pipes/plant/pipe.json"), "garbage");

        CommandRun run = repair();

        assertThat(run.exitCode()).as(run.out() + run.err()).isZero();
        assertThat(run.out()).contains("file=pipe.json: made from what the pipe was born as; ids go on at 1048777");
        goesOnWith(Map.of());
    }

    @Test
    void aPipeOfWhichNothingTellsWhatItWasIsLeftOut() throws IOException {
        data.write("mill", 3);
        Files.writeString(data.path().resolve("pipes/plant/pipe.json"), "garbage");
        Files.delete(data.path().resolve("pipes/plant/pipe.born"));

        CommandRun run = repair();

        assertThat(run.exitCode()).isEqualTo(6);
        assertThat(run.out()).contains("pipe=plant: left out").contains("copy: directory=" + copy.path() + ", pipes=1");
    }

    @Test
    void aMissingSegmentAndDamagedNotesOfAcksAndAttemptsCostRedeliveriesOnly() throws IOException {
        data.open("plant", store -> TestData.append(store, "event 201", new ProducerSequence("producer", 201)));
        Files.delete(data.files("plant", ".cq4").get(0));
        try (RandomAccessFile ring =
                new RandomAccessFile(data.files("plant", ".settled").get(0).toFile(), "rw")) {
            ring.seek(128 + 8);
            ring.write(0xFF);
        }
        TestData.flip(data.files("plant", ".attempts").get(0), "negative ack");

        CommandRun run = repair();

        assertThat(run.exitCode()).as(run.out() + run.err()).isZero();
        assertThat(run.out())
                .contains("lost, ids=1 to 200, void")
                .contains("default.settled: damaged words emptied, words=1")
                .contains("default.attempts: written anew, attempts=1");
        copy.open("plant", store -> {
            assertThat(TestData.read(store)).isEqualTo(Map.of(201L, "event 201"));
            assertThat(store.log().skipVoid(1)).isEqualTo(201);
            assertThat(store.log().lastSequence("producer")).isEqualTo(201);
            assertThat(store.attempts().attempt(2)).isNotNull();
        });
    }

    @Test
    void eachSubscriptionIsCheckedAndRepairedByItself() throws IOException {
        data.open("plant", store -> {
            for (String name : List.of("a", "b", "c")) {
                SubscriptionFiles made = store.subscriptions().create(name, 5, 0, 0);
                made.settled().raiseDeliveredUpTo(40);
                made.settled().settle(5);
                made.attempts().record(7, 2, 5_000, "negative ack");
            }
        });
        TestData.flip(data.files("plant", "a.json").get(0), "start");
        TestData.flip(data.files("plant", "b.attempts").get(0), "negative ack");
        Path ring = data.files("plant", "c.settled").get(0);
        Files.write(ring, new byte[4096]);

        CommandRun run = repair();

        assertThat(run.exitCode()).as(run.out() + run.err()).isZero();
        assertThat(run.out())
                .contains("a.json: made from what its ring says; start=5")
                .contains("b.attempts: written anew")
                .contains("c.settled: begun anew");
        copy.open(
                "plant",
                store -> assertThat(store.subscriptions().existing())
                        .extracting(each -> each.name() + " " + each.settled().floor() + " "
                                + each.attempts().size())
                        .containsExactlyInAnyOrder("default 0 2", "a 5 1", "b 5 0", "c 4 1"));
        assertThat(CommandRun.of("check-data", copy.path().toString()).out()).contains("; sound");
    }

    @Test
    void manySegmentsAndManyGapsAreWrittenAnew() throws IOException {
        data.open("long", store -> {
            for (int i = 1; i <= 400; i++) {
                TestData.append(store, "event " + i + "x".repeat(10_000), null);
            }
        });
        List<Path> files = data.files("long", ".cq4");
        assertThat(files).hasSizeGreaterThan(3);
        List<Long> lost = new ArrayList<>();
        for (int id = 5; id <= 400; id += 79) {
            for (Path file : files) {
                flipIfThere(file, "event " + id + "x", lost, id);
            }
        }
        assertThat(lost).hasSize(6);

        CommandRun run = repair();

        assertThat(run.exitCode()).as(run.out() + run.err()).isZero();
        copy.open("long", store -> {
            Map<Long, String> read = TestData.read(store);
            assertThat(read).hasSize(400 - 6).doesNotContainKeys(lost.toArray(Long[]::new));
            read.forEach((id, text) -> assertThat(text).startsWith("event " + id + "x"));
            assertThat(TestData.append(store, "next", null)).isEqualTo(401);
        });
        assertThat(CommandRun.of("check-data", copy.path().toString()).out()).contains("; sound");
    }

    @Test
    void aCopyIsNotWrittenIntoAFolderThatHasSomethingOrIntoTheDirectoryItself() throws IOException {
        Files.createDirectories(copy.path());
        Files.writeString(copy.path().resolve("mine"), "x");

        CommandRun run = repair();
        CommandRun within = CommandRun.of(
                "check-data",
                "--repair=" + data.path().resolve("copy"),
                data.path().toString());

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(within.exitCode()).isEqualTo(2);
        assertThat(run.err()).contains("a copy cannot be written there").hasLineCount(1);
        assertThat(copy.path()).isDirectoryNotContaining("glob:**pipes");
    }

    /** Opened as a relay does: the events and acks of before, higher ids, and the producer's next publish. */
    private void goesOnWith(Map<Long, String> lost) {
        copy.open("plant", store -> {
            Map<Long, String> expected = new TreeMap<>();
            for (long id = 1; id <= EVENTS; id++) {
                expected.put(id, "event " + id);
                boolean settled = id % 3 == 0;
                assertThat(store.settled().isSettled(id)).as("id %d", id).isEqualTo(settled);
            }
            expected.keySet().removeAll(lost.keySet());
            assertThat(TestData.read(store)).isEqualTo(expected);
            for (long id : lost.keySet()) {
                assertThat(store.log().skipVoid(id)).isGreaterThan(id);
            }
            assertThat(store.log().lastSequence("producer")).isGreaterThanOrEqualTo(EVENTS - 1L);
            assertThat(store.attempts().size()).isEqualTo(2);
            long next = TestData.append(store, "next", new ProducerSequence("producer", EVENTS + 1L));
            assertThat(next).isGreaterThan(EVENTS);
            assertThat(TestData.read(store)).containsEntry(next, "next");
        });
        assertThat(CommandRun.of("check-data", copy.path().toString()).out()).contains("; sound");
    }

    private static Map<Long, String> lost(long... ids) {
        Map<Long, String> lost = new TreeMap<>();
        for (long id : ids) {
            lost.put(id, "");
        }
        return lost;
    }

    private static void flipIfThere(Path file, String text, List<Long> lost, long id) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        int at = new String(bytes, StandardCharsets.ISO_8859_1).indexOf(text);
        if (at >= 0) {
            bytes[at] ^= 1;
            Files.write(file, bytes);
            lost.add(id);
        }
    }

    private CommandRun repair() {
        return CommandRun.of(
                "check-data", "--repair=" + copy.path(), data.path().toString());
    }

    private static Logger logger() {
        return (Logger) LoggerFactory.getLogger("io.tabletrelay.core.store");
    }
}
