package io.tabletrelay.core.store.folder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.core.config.PipeSettings;
import io.tabletrelay.core.store.StoreException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A pipe's settings in its pipe.json. */
class StoredSettingsTest {
    private static final PipeName PLANT = new PipeName("plant");
    private static final PipeSettings V1 = new PipeSettings(Map.of("tablet-format", "v1"));
    private static final String WITHOUT = "{\"format\":1,\"name\":\"plant\",\"epoch\":3,\"createdMillis\":1,"
            + "\"state\":\"OPEN\",\"stateVersion\":1,\"firstFreeId\":1,\"idMark\":0,\"bootId\":\"boot\"%s,"
            + "\"crc32c\":\"%s\"}\n";

    @TempDir
    private Path folder;

    @Test
    void settingsComeBackAndStayThroughEachChange() {
        try (DataDirectory directory = open("boot")) {
            assertThat(directory.create(PLANT, V1)).isTrue();
            directory.pipe(PLANT).raiseIdMark(4096);
        }
        try (DataDirectory directory = open("next boot")) {
            assertThat(directory.settings(PLANT)).isEqualTo(V1);
            directory.pipe(PLANT).raiseIdMark(8192);
        }
        try (DataDirectory directory = open("next boot")) {
            assertThat(directory.pipe(PLANT).settings()).isEqualTo(V1);
            assertThat(directory.settings(PLANT)).isEqualTo(V1);
        }
    }

    @Test
    void creatingAgainChangesNothingAndOtherSettingsAreRefused() {
        try (DataDirectory directory = open("boot")) {
            directory.create(PLANT, V1);
        }
        try (DataDirectory directory = open("boot")) {
            assertThat(directory.create(PLANT, V1)).isFalse();
            assertThatThrownBy(() -> directory.create(PLANT, PipeSettings.NONE))
                    .isInstanceOfSatisfying(
                            StoreException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.PIPE_EXISTS))
                    .hasMessage("pipe exists with other settings: pipe=plant, settings={tablet-format=v1}, asked={};"
                            + " settings never change, use another name");
            assertThat(directory.settings(PLANT)).isEqualTo(V1);
        }
    }

    @Test
    void aPipeOfFirstUseHasNoneAndAskingForThemMakesNoPipe() {
        try (DataDirectory directory = open("boot")) {
            assertThat(directory.settings(PLANT)).isEqualTo(PipeSettings.NONE);
            assertThat(directory.exists(PLANT)).isFalse();

            directory.pipe(PLANT);

            assertThat(directory.settings(PLANT)).isEqualTo(PipeSettings.NONE);
            assertThat(directory.create(PLANT, new PipeSettings(Map.of("tablet-format", "v2"))))
                    .isFalse();
            assertThatThrownBy(() -> directory.create(PLANT, V1)).isInstanceOf(StoreException.class);
        }
    }

    @Test
    void aDeletedPipesSettingsAreNotThoseOfTheNextPipeOfItsName() {
        try (DataDirectory directory = open("boot")) {
            directory.create(PLANT, V1);
            directory.delete(PLANT);

            assertThat(directory.settings(PLANT)).isEqualTo(PipeSettings.NONE);
            assertThat(directory.pipe(PLANT).settings()).isEqualTo(PipeSettings.NONE);
        }
    }

    @Test
    void aFileWithoutSettingsIsWhatItWasBeforeThereWereAny() throws IOException {
        Path file = folder.resolve("pipe.json");
        String before = WITHOUT.formatted("", "5ecad85e");
        Files.writeString(file, before);

        PipeRecord read = PipeRecord.read(file);
        read.write(file);

        assertThat(read.settings()).isEqualTo(PipeSettings.NONE);
        assertThat(file).hasContent(before);
    }

    @Test
    void settingsStandBehindTheOtherFields() throws IOException {
        Path file = folder.resolve("pipe.json");
        new PipeRecord("plant", 3, 0, 1, LifeCycle.NEW, 1, 0, "boot", V1).write(file);

        assertThat(file).hasContent(WITHOUT.formatted(",\"settings\":{\"tablet-format\":\"v1\"}", "fe760940"));
    }

    @Test
    void aSettingThatThisRelayDoesNotKnowFailsThePipe() throws IOException {
        Path pipe =
                Files.createDirectories(folder.resolve("data").resolve("pipes").resolve("plant"));
        Files.writeString(
                pipe.resolve("pipe.json"), WITHOUT.formatted(",\"settings\":{\"tablet-format\":\"v9\"}", "3b1102d1"));

        try (DataDirectory directory = open("boot")) {
            assertThatThrownBy(() -> directory.pipe(PLANT))
                    .isInstanceOfSatisfying(
                            StoreException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.PIPE_FAILED))
                    .hasMessageContaining("no such value of a pipe setting: tablet-format=v9");
        }
    }

    private DataDirectory open(String bootId) {
        return DataDirectory.open(folder.resolve("data"), () -> Instant.EPOCH, () -> bootId);
    }
}
