package io.tabletrelay.core.store.folder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.tabletrelay.api.PipeName;
import io.tabletrelay.core.store.ChildJvm;
import io.tabletrelay.core.store.SmallFile;
import io.tabletrelay.core.store.StoreException;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A deletion that is killed leaves the pipe as it was or deleted, and its ids are never given again. */
class PipeDeletionTest {
    private static final PipeName PLANT = new PipeName("plant");

    @TempDir
    private Path folder;

    private Path data;
    private Path pipe;
    private Path tombstone;

    @BeforeEach
    void makeAPipe() throws IOException {
        data = folder.resolve("data");
        pipe = data.resolve("pipes").resolve("plant");
        tombstone = data.resolve("tombstones").resolve("plant.json");
        try (DataDirectory directory = open(data)) {
            PipeFolder plant = directory.pipe(PLANT);
            plant.raiseIdMark(4096);
            Files.createDirectory(plant.eventsFolder());
            Files.writeString(plant.eventsFolder().resolve("segment"), "events");
        }
    }

    @Test
    void killedWithHalfATombstoneThePipeIsAsItWas() throws IOException {
        Files.writeString(SmallFile.temp(tombstone), "{\"format\":1,\"na");

        assertUntouched();

        assertThat(data.resolve("tombstones")).isEmptyDirectory();
    }

    @Test
    void killedWithAWholeTombstoneThePipeIsDeleted() throws IOException {
        Files.copy(pipe.resolve("pipe.json"), tombstone);

        assertDeleted();
    }

    @Test
    void killedBeforeTheFolderWasEmptiedThePipeIsDeleted() throws IOException {
        Files.copy(pipe.resolve("pipe.json"), tombstone);
        Files.move(pipe, data.resolve("deleted").resolve("plant"));

        assertDeleted();
    }

    @Test
    void killedWhileTheFolderWasEmptiedThePipeIsDeleted() throws IOException {
        Files.copy(pipe.resolve("pipe.json"), tombstone);
        Files.move(pipe, data.resolve("deleted").resolve("plant"));
        Files.delete(data.resolve("deleted").resolve("plant").resolve("pipe.json"));

        assertDeleted();
    }

    @Test
    void aDeletionThatFailedAfterItsTombstoneIsFinishedWhenThePipeIsAskedFor() throws IOException {
        try (DataDirectory directory = open(data)) {
            Files.copy(pipe.resolve("pipe.json"), tombstone);

            assertThat(directory.pipe(PLANT).firstFreeId()).isEqualTo(4097);
            assertThat(pipe.resolve("events")).doesNotExist();
        }
    }

    @Test
    void aTombstoneOfAnEarlierPipeDeletesNothing() {
        try (DataDirectory directory = open(data)) {
            directory.delete(PLANT);
            directory.pipe(PLANT).raiseIdMark(5000);
        }

        try (DataDirectory directory = open(data)) {
            assertThat(directory.exists(PLANT)).isTrue();
            assertThat(directory.pipe(PLANT).idMark()).isEqualTo(5000);
        }
    }

    @Test
    void aDamagedTombstoneStopsThatNameRatherThanReuseItsIds() throws IOException {
        try (DataDirectory directory = open(data)) {
            directory.delete(PLANT);
        }
        Files.writeString(tombstone, "{}", StandardCharsets.UTF_8);

        try (DataDirectory directory = open(data)) {
            assertThatThrownBy(() -> directory.pipe(PLANT))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("tombstone=" + data.toRealPath().resolve("tombstones"));
            assertThat(directory.pipe(new PipeName("mill")).firstFreeId()).isEqualTo(1);
        }
    }

    @Test
    void killedAtAnyMomentIdsOnlyRise() throws IOException {
        Path notes = Files.createFile(folder.resolve("notes"));
        Random random = new Random(7);
        long lastEpoch = 0;
        for (int kill = 0; kill < 6; kill++) {
            long enough = Files.size(notes) + 30 + random.nextInt(400);
            try (ChildJvm child = ChildJvm.start(Deleting.class, data.toString(), notes.toString())) {
                await("the child has deleted for a while")
                        .atMost(Duration.ofSeconds(60))
                        .pollInterval(Duration.ofMillis(1))
                        .until(() -> Files.size(notes) >= enough || !child.isAlive());
                assertThat(child.isAlive()).isTrue();
                child.kill();
            }

            long epoch = assertOldOrDeleted(Files.readAllLines(notes));

            assertThat(epoch).isGreaterThanOrEqualTo(lastEpoch);
            lastEpoch = epoch;
        }
    }

    /** A note is the epoch of a pipe whose mark was raised and the mark, written when the raise had returned. */
    private long assertOldOrDeleted(List<String> notes) {
        String last = notes.get(notes.size() - 1);
        int space = last.indexOf(' ');
        long notedEpoch = Long.parseLong(last.substring(0, space));
        long notedMark = Long.parseLong(last.substring(space + 1));
        try (DataDirectory directory = open(data)) {
            assertThat(data.resolve("deleted")).isEmptyDirectory();
            PipeFolder plant = directory.pipe(PLANT);
            if (plant.epoch() == notedEpoch) {
                assertThat(plant.idMark()).isGreaterThanOrEqualTo(notedMark);
                assertThat(plant.eventsFolder().resolve("segment")).hasContent("events");
            } else {
                assertThat(plant.epoch()).isGreaterThan(notedEpoch);
                assertThat(plant.firstFreeId()).isGreaterThan(notedMark);
            }
            return plant.epoch();
        }
    }

    private void assertUntouched() throws IOException {
        try (DataDirectory directory = open(data)) {
            assertThat(directory.exists(PLANT)).isTrue();
            assertThat(directory.pipe(PLANT).idMark()).isEqualTo(4096);
            assertThat(directory.pipe(PLANT).firstFreeId()).isEqualTo(1);
            assertThat(pipe.resolve("events").resolve("segment")).hasContent("events");
        }
    }

    private void assertDeleted() throws IOException {
        for (int start = 0; start < 2; start++) {
            try (DataDirectory directory = open(data)) {
                assertThat(directory.exists(PLANT)).isFalse();
                assertThat(directory.pipes()).isEmpty();
                assertThat(pipe).doesNotExist();
                assertThat(data.resolve("deleted")).isEmptyDirectory();
            }
        }
        try (DataDirectory directory = open(data)) {
            assertThat(directory.pipe(PLANT).firstFreeId()).isEqualTo(4097);
            assertThat(directory.pipe(PLANT).eventsFolder()).doesNotExist();
        }
    }

    private static DataDirectory open(Path data) {
        return DataDirectory.open(data, InstantSource.system(), () -> "boot");
    }

    /** A process that creates, uses and deletes the same pipe until it is killed. */
    static final class Deleting {
        private Deleting() {}

        public static void main(String[] args) throws IOException {
            try (DataDirectory directory = open(Path.of(args[0]));
                    OutputStream notes = new FileOutputStream(args[1], true)) {
                while (true) {
                    PipeFolder plant = directory.pipe(PLANT);
                    Files.createDirectories(plant.eventsFolder());
                    Files.writeString(plant.eventsFolder().resolve("segment"), "events");
                    plant.raiseIdMark(plant.idMark() + 1000);
                    String note = plant.epoch() + " " + plant.idMark() + "\n";
                    notes.write(note.getBytes(StandardCharsets.US_ASCII));
                    directory.delete(PLANT);
                }
            }
        }
    }
}
