package io.tabletrelay.core;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.store.folder.DataDirectory;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CheckDataCommandTest {
    @TempDir
    private Path folder;

    private TestData data;

    @BeforeEach
    void write() {
        data = new TestData(folder.resolve("data"));
        data.write("plant", 10).write("mill", 5);
    }

    @Test
    void aSoundDirectoryIsShownPipeByPipe() {
        CommandRun run = check();

        assertThat(run.err()).isEmpty();
        assertThat(run.out())
                .contains("pipe=plant: sound")
                .contains("  events: ids=1 to 10, events=10, lost=0, void=0, segments=1, bytes=")
                .contains("  settled: floor=0, above it=3, delivered up to=10, unsettled=7, failing=2")
                .contains("  dead letters: ids=1 to 0, events=0, lost=0, void=0, segments=0, bytes=0")
                .contains("pipes=2, damaged pipes=0, events=15, lost=0, tombstones=0, deleted=0; sound");
        assertThat(run.exitCode()).isZero();
    }

    @Test
    void damageIsNamedWithItsPipeFileAndIdsAndHasAnExitCodeOfItsOwn() throws IOException {
        TestData.flip(data.files("plant", ".cq4").get(0), "event 4");

        CommandRun run = check();

        assertThat(run.exitCode()).isEqualTo(6);
        assertThat(run.out())
                .contains("pipe=plant: DAMAGED, damages=1")
                .contains("  damage: file=pipes/plant/events/0000000001-1, ids=4 to 4; events cannot be read")
                .contains("pipe=mill: sound")
                .contains("damaged pipes=1, events=14, lost=1");
    }

    @Test
    void everyKindOfFileIsLookedAt() throws IOException {
        data.open("gone", store -> {});
        try (DataDirectory directory = data.directory()) {
            directory.delete(new PipeName("gone"));
        }
        Files.createDirectories(data.path().resolve("deleted/old/events"));
        for (String file : List.of(
                "pipes/plant/pipe.json",
                "pipes/plant/pipe.born",
                "pipes/plant/subscriptions/default.settled",
                "pipes/plant/subscriptions/default.attempts",
                "tombstones/gone.json")) {
            Path path = data.path().resolve(file);
            byte[] whole = Files.readAllBytes(path);
            byte[] flipped = whole.clone();
            flipped[whole.length / 2] ^= 1;
            Files.write(path, flipped);

            CommandRun run = check();

            assertThat(run.exitCode()).as(file).isEqualTo(6);
            assertThat(run.out()).contains("damage: file=" + file).contains("tombstones=1, deleted=1");
            Files.write(path, whole);
        }
        assertThat(check().exitCode()).isZero();
    }

    @Test
    void aLockThatNamesNoProcessIsNamed() throws IOException {
        Path lock = data.path().resolve("relay.lock");
        for (String content : List.of("4711\n", "", "4711")) {
            Files.writeString(lock, content);

            assertThat(check().exitCode()).as(content).isZero();
        }
        Files.writeString(lock, "4 11\n");

        CommandRun run = check();

        assertThat(run.out()).contains("damage: file=relay.lock; it names no process");
        assertThat(run.exitCode()).isEqualTo(6);
    }

    /** Nothing would keep a relay out that is started meanwhile, and nothing shows one whose lock was deleted. */
    @Test
    void aDirectoryWithoutALockIsRefusedAndLeftAsItIs() throws IOException {
        Path lock = data.path().resolve("relay.lock");
        Files.delete(lock);

        CommandRun run = check();

        assertThat(run.err()).contains("relay.lock is missing; once no relay uses it, create an empty one");
        assertThat(run.exitCode()).isNotZero();
        assertThat(lock).doesNotExist();
        Files.createFile(lock);
        assertThat(check().exitCode()).isZero();
    }

    @Test
    void aLostRecordOfABirthIsNamed() throws IOException {
        Path born = data.path().resolve("pipes/plant/pipe.born");
        Files.move(born, born.resolveSibling("elsewhere"));

        assertThat(check().out()).contains("damage: file=pipes/plant/pipe.born; it is missing");
    }

    @Test
    void aDirectoryOfARelayWithLargerEventsIsSoundIfThatIsSaid() {
        Path large = folder.resolve("large");
        StoreConfig sizes = new StoreConfig(1 << 20, 16 << 20, 0, 0, 0);
        new TestData(large).open("plant", sizes, store -> {
            TestData.append(store, "x".repeat(5 << 20), null);
        });

        CommandRun said = CommandRun.of("check-data", large.toString(), "--max-event-bytes", "16777216");
        CommandRun unsaid = CommandRun.of("check-data", large.toString());

        assertThat(said.out()).contains("events=1, lost=0");
        assertThat(said.exitCode()).isZero();
        assertThat(unsaid.exitCode()).isEqualTo(6);
    }

    @Test
    void nothingIsChangedInTheDirectoryWhateverIsFound() throws IOException {
        Path segment = data.files("plant", ".cq4").get(0);
        TestData.flip(segment, "event 4");
        Files.writeString(segment.resolveSibling("20200101.cq4"), "foreign");
        Files.writeString(segment.resolveSibling("metadata.cq4t"), "metadata");
        Files.createDirectory(data.path().resolve("pipes/plant/events/0000000002-11"));
        Files.write(data.files("mill", ".cq4").get(0), new byte[0]);
        Files.writeString(data.files("mill", ".settled").get(0), "x");
        Files.writeString(data.files("mill", ".attempts").get(0), "x");
        Files.writeString(data.path().resolve("pipes/mill/pipe.json.tmp"), "x");
        Files.createDirectories(data.path().resolve("pipes/half"));
        Files.createDirectories(data.path().resolve("deleted/old/events"));
        Files.writeString(data.path().resolve("tombstones/x.json.tmp"), "x");
        Map<String, String> before = TestData.digest(data.path());

        CommandRun run = check();
        CommandRun asJson = CommandRun.of("check-data", "--json", data.path().toString());

        assertThat(run.exitCode()).as(run.err()).isEqualTo(6);
        assertThat(run.out())
                .contains("note: pipes/plant/events/0000000001-1/20200101.cq4")
                .contains("note: pipes/plant/events/0000000002-11: segment without an event");
        assertThat(asJson.exitCode()).isEqualTo(6);
        assertThat(TestData.digest(data.path())).isEqualTo(before);
    }

    @Test
    void jsonHasTheSame() throws IOException {
        TestData.flip(data.files("plant", ".cq4").get(0), "event 4");

        CommandRun run = CommandRun.of(
                "check-data", "--json", "--pipe=plant", data.path().toString());

        JsonNode report = new ObjectMapper().readTree(run.out());
        assertThat(report.path("sound").asBoolean(true)).isFalse();
        JsonNode pipe = report.path("pipes").path(0);
        assertThat(report.path("pipes")).hasSize(1);
        assertThat(pipe.path("name").asText()).isEqualTo("plant");
        assertThat(pipe.path("events").path("lostIds").asLong()).isEqualTo(1);
        assertThat(pipe.path("settled").path("deliveredUpTo").asLong()).isEqualTo(10);
        assertThat(pipe.path("damages").path(0).path("firstId").asLong()).isEqualTo(4);
    }

    @Test
    void anOlderPipeFileIsTold() throws IOException {
        Path file = data.path().resolve("pipes/plant/pipe.json");
        byte[] old = Files.readAllBytes(data.path().resolve("pipes/plant/pipe.born"));
        Files.write(file, old);

        CommandRun run = check();

        assertThat(run.exitCode()).isEqualTo(6);
        assertThat(run.out())
                .contains("it is older than the log: idMark=0, last=10")
                .contains("events=10, lost=0");
    }

    @Test
    void aDirectoryThatARelayUsesIsLeftAlone() {
        try (DataDirectory used = data.directory()) {
            CommandRun run = check();

            assertThat(used.pipes()).hasSize(2);
            assertThat(run.exitCode()).isEqualTo(3);
            assertThat(run.err()).contains("data directory is in use").hasLineCount(1);
        }
    }

    @Test
    void aFolderThatIsNoDataDirectoryAndAPipeThatIsNotThereAreSaid() throws IOException {
        CommandRun noData = CommandRun.of("check-data", folder.toString());
        CommandRun noPipe =
                CommandRun.of("check-data", "--pipe=nobody", data.path().toString());
        CommandRun nothing = CommandRun.of("check-data");

        assertThat(noData.exitCode()).isEqualTo(1);
        assertThat(noData.err()).contains("not a data directory").hasLineCount(1);
        assertThat(noPipe.exitCode()).isEqualTo(1);
        assertThat(noPipe.err()).contains("no such pipe: pipe=nobody").hasLineCount(1);
        assertThat(nothing.exitCode()).isEqualTo(2);
    }

    @Test
    void damageOfManyEventsIsCountedAndTheFirstIsShown() throws IOException {
        data.write("long", 3_000);
        Path file = data.files("long", ".cq4").get(0);
        try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
            for (long at = 40_000; at < 200_000; at += 1_000) {
                open.seek(at);
                open.write(0);
                open.write(0);
            }
        }

        CommandRun run = CommandRun.of("check-data", "--pipe=long", data.path().toString());

        assertThat(run.exitCode()).isEqualTo(6);
        assertThat(run.out()).contains("more damages");
    }

    private CommandRun check() {
        return CommandRun.of("check-data", data.path().toString());
    }
}
