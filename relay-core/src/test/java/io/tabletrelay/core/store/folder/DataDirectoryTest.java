package io.tabletrelay.core.store.folder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.core.store.StoreException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DataDirectoryTest {
    private static final InstantSource NOW = InstantSource.fixed(Instant.ofEpochMilli(1_700_000_000_000L));
    private static final PipeName PLANT = new PipeName("plant");

    @TempDir
    private Path folder;

    private Path data;

    @BeforeEach
    void nameTheDirectory() {
        data = folder.resolve("some").resolve("data");
    }

    @Test
    void aNewDirectoryHasNoPipes() {
        try (DataDirectory directory = open()) {
            assertThat(directory.pipes()).isEmpty();
            assertThat(directory.exists(PLANT)).isFalse();
            assertThat(data.resolve("pipes")).isEmptyDirectory();
        }
    }

    @Test
    void aPipeIsThereAfterReopening() {
        try (DataDirectory directory = open()) {
            PipeFolder pipe = directory.pipe(PLANT);
            pipe.raiseIdMark(4096);
            directory.pipe(new PipeName("Plant"));

            assertThat(directory.pipe(PLANT)).isSameAs(pipe);
            assertThat(pipe.path()).isDirectoryContaining("glob:**pipe.json");
        }

        try (DataDirectory directory = open()) {
            PipeFolder pipe = directory.pipe(PLANT);

            assertThat(directory.pipes()).containsExactlyInAnyOrder(PLANT, new PipeName("Plant"));
            assertThat(directory.exists(PLANT)).isTrue();
            assertThat(pipe.name()).isEqualTo(PLANT);
            assertThat(pipe.epoch()).isEqualTo(1_700_000_000_000L);
            assertThat(pipe.createdMillis()).isEqualTo(1_700_000_000_000L);
            assertThat(pipe.lifeCycle()).isEqualTo(LifeCycle.NEW);
            assertThat(pipe.idMark()).isEqualTo(4096);
            assertThat(pipe.firstFreeId()).isEqualTo(1);
            assertThat(pipe.bootChanged()).isFalse();
        }
    }

    @Test
    void theMarkNeverFalls() {
        try (DataDirectory directory = open()) {
            PipeFolder pipe = directory.pipe(PLANT);
            pipe.raiseIdMark(100);

            pipe.raiseIdMark(99);

            assertThat(pipe.idMark()).isEqualTo(100);
        }
    }

    @Test
    void afterAnotherBootIdsGoOnAboveTheMarkUntilThatIsWrittenDown() {
        try (DataDirectory directory = open("first boot")) {
            directory.pipe(PLANT).raiseIdMark(4096);
        }
        for (int start = 0; start < 2; start++) {
            try (DataDirectory directory = open("second boot")) {
                PipeFolder pipe = directory.pipe(PLANT);

                assertThat(pipe.bootChanged()).isTrue();
                assertThat(pipe.firstFreeId()).isEqualTo(4097);
                assertThat(pipe.idMark()).isEqualTo(4096);
            }
        }
        try (DataDirectory directory = open("second boot")) {
            directory.pipe(PLANT).raiseIdMark(8192);
        }
        try (DataDirectory directory = open("second boot")) {
            PipeFolder pipe = directory.pipe(PLANT);

            assertThat(pipe.bootChanged()).isFalse();
            assertThat(pipe.firstFreeId()).isEqualTo(4097);
            assertThat(pipe.idMark()).isEqualTo(8192);
        }
    }

    @Test
    void aPipeOfADeletedNameContinuesAboveIt() throws IOException {
        try (DataDirectory directory = open()) {
            PipeFolder first = directory.pipe(PLANT);
            first.raiseIdMark(4096);
            Files.createDirectories(first.eventsFolder().resolve("deep"));
            Files.writeString(first.eventsFolder().resolve("deep").resolve("file"), "x");

            directory.delete(PLANT);

            assertThat(directory.exists(PLANT)).isFalse();
            assertThat(directory.pipes()).isEmpty();
            assertThat(first.path()).doesNotExist();
            assertThat(data.resolve("deleted")).isEmptyDirectory();
            PipeFolder second = directory.pipe(PLANT);
            assertThat(second.epoch()).isEqualTo(first.epoch() + 1);
            assertThat(second.firstFreeId()).isEqualTo(4097);
            assertThat(second.idMark()).isEqualTo(4096);
            second.raiseIdMark(5000);
        }
        try (DataDirectory directory = open()) {
            assertThat(directory.pipe(PLANT).idMark()).isEqualTo(5000);
            directory.delete(PLANT);
        }
        try (DataDirectory directory = open()) {
            PipeFolder third = directory.pipe(PLANT);

            assertThat(third.epoch()).isEqualTo(1_700_000_000_002L);
            assertThat(third.firstFreeId()).isEqualTo(5001);
            assertThat(directory.pipe(new PipeName("other")).firstFreeId()).isEqualTo(1);
        }
    }

    @Test
    void aPipeThatIsNotThereCannotBeDeleted() {
        try (DataDirectory directory = open()) {
            assertThatThrownBy(() -> directory.delete(PLANT))
                    .isInstanceOfSatisfying(
                            StoreException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_SUCH_PIPE));
        }
    }

    @Test
    void aBrokenPipeFileFailsThatPipeAlone() throws IOException {
        PipeName longName = new PipeName("ä".repeat(100));
        try (DataDirectory directory = open()) {
            Files.writeString(directory.pipe(PLANT).path().resolve("pipe.json"), "{}");
            directory.pipe(longName);
        }

        try (DataDirectory directory = open()) {
            assertThat(directory.pipes()).containsExactlyInAnyOrder(PLANT, longName);
            assertThatThrownBy(() -> directory.pipe(PLANT))
                    .isInstanceOfSatisfying(
                            StoreException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.PIPE_FAILED))
                    .hasMessageContaining(
                            "folder=" + data.toRealPath().resolve("pipes").resolve("plant"));
            assertThat(directory.pipe(longName).idMark()).isZero();
        }
    }

    @Test
    void aPipeWithoutItsPipeFileIsNotTakenForANewOne() throws IOException {
        try (DataDirectory directory = open()) {
            Path pipe = directory.pipe(PLANT).path();
            Files.createDirectory(pipe.resolve("events"));
            Files.delete(pipe.resolve("pipe.json"));
        }

        try (DataDirectory directory = open()) {
            assertThat(directory.pipes()).containsExactly(PLANT);
            assertThatThrownBy(() -> directory.pipe(PLANT)).hasMessageContaining("reason=it is missing");
        }
    }

    @Test
    void aFolderOfAnotherPipeIsRefused() throws IOException {
        try (DataDirectory directory = open()) {
            Path pipe = directory.pipe(PLANT).path();
            Files.move(pipe, pipe.resolveSibling("mill"));
        }

        try (DataDirectory directory = open()) {
            assertThatThrownBy(() -> directory.pipe(new PipeName("mill")))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("it is of another pipe, 'plant'");
        }
    }

    @Test
    void whatAKilledChangeLeftIsRemoved() throws IOException {
        try (DataDirectory directory = open()) {
            Files.writeString(directory.pipe(PLANT).path().resolve("pipe.json.tmp"), "half");
            Files.createDirectory(data.resolve("pipes").resolve("unborn"));
            Files.writeString(data.resolve("pipes").resolve("unborn").resolve("pipe.json.tmp"), "half");
        }

        try (DataDirectory directory = open()) {
            assertThat(directory.pipes()).containsExactly(PLANT);
            assertThat(directory.pipe(PLANT).path()).isDirectoryNotContaining("glob:**.tmp");
            assertThat(directory.pipe(new PipeName("unborn")).firstFreeId()).isEqualTo(1);
            assertThat(data.resolve("pipes").resolve("unborn")).isDirectoryNotContaining("glob:**.tmp");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"..", "../../escaped", "/etc/passwd", "con", ".relay.lock", "a/../../../b", "~"})
    void noNameLeavesTheDirectory(String name) throws IOException {
        try (DataDirectory directory = open()) {
            PipeFolder pipe = directory.pipe(new PipeName(name));

            Path pipes = data.toRealPath().resolve("pipes");
            assertThat(pipe.path().toRealPath().getParent()).isEqualTo(pipes);
            Path subscriptions = pipe.path().resolve("subscriptions");
            assertThat(pipe.settledFile(name).getParent()).isEqualTo(subscriptions);
            assertThat(pipe.attemptsFile(name).normalize().getParent()).isEqualTo(subscriptions);
            assertThat(directory.pipes()).containsExactly(new PipeName(name));
        }
        assertThat(folder).isDirectoryNotContaining("glob:**escaped");
    }

    @Test
    void aFileIsNoDataDirectory() throws IOException {
        Path file = Files.createFile(folder.resolve("file"));

        for (Path path : new Path[] {file, file.resolve("below")}) {
            assertThatThrownBy(() -> DataDirectory.open(path, NOW, () -> "boot"))
                    .isInstanceOfSatisfying(
                            StoreException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CANNOT_START))
                    .hasMessageStartingWith("data directory cannot be used: path=" + path);
        }
    }

    @Test
    void aDirectoryThatCannotBeWrittenIsRefused() {
        assertThatThrownBy(() -> DataDirectory.open(Path.of("/proc/self"), NOW, () -> "boot"))
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CANNOT_START));
    }

    @Test
    void theKernelsBootIsToldAndAnUnknownOneNeverLooksTheSame() throws IOException {
        Path source = Files.writeString(folder.resolve("boot_id"), "42-a\n");

        assertThat(BootId.read(source)).isEqualTo("42-a");
        assertThat(BootId.read(folder.resolve("none"))).isNotEqualTo(BootId.read(folder.resolve("none")));
        assertThat(BootId.current()).isNotBlank();
    }

    private DataDirectory open() {
        return open("boot");
    }

    private DataDirectory open(String bootId) {
        return DataDirectory.open(data, NOW, () -> bootId);
    }
}
