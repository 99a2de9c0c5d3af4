package io.tabletrelay.core.store.folder;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.core.config.PipeSettings;
import io.tabletrelay.core.store.StoreException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every byte of pipe.json is damaged, and the file is cut. */
class DamagedPipeFileTest {
    @TempDir
    private Path folder;

    @Test
    void aPipeFileWithAnyWrongByteOrLengthFailsThatPipe() throws IOException {
        PipeName name = new PipeName("plant");
        PipeSettings settings = new PipeSettings(Map.of("tablet-format", "v1"));
        Path pipeFolder = Files.createDirectory(folder.resolve("plant"));
        PipeFolder.create(
                        pipeFolder, new PipeRecord("plant", 3, 77, 1, LifeCycle.NEW, 1, 0, "boot", settings), () -> {})
                .raiseIdMark(4096);
        Path file = pipeFolder.resolve(PipeFolder.FILE_NAME);
        byte[] whole = Files.readAllBytes(file);

        for (int at = 0; at < whole.length; at++) {
            for (int flip : new int[] {1 << at % 8, 1, 0x10, 0xFF}) {
                put(file, withFlip(whole, at, flip));
                assertFails(pipeFolder, name);
            }
            put(file, Arrays.copyOf(whole, at));
            assertFails(pipeFolder, name);
        }
        put(file, whole);
        assertThat(PipeFolder.load(pipeFolder, name, "boot", () -> {}).idMark()).isEqualTo(4096);
    }

    private static void assertFails(Path pipeFolder, PipeName name) {
        try {
            PipeFolder.load(pipeFolder, name, "boot", () -> {});
        } catch (StoreException e) {
            assertThat(e.code()).isEqualTo(ErrorCode.PIPE_FAILED);
            assertThat(e.reason()).contains("folder=" + pipeFolder);
            return;
        }
        throw new AssertionError("a damaged pipe.json was read");
    }

    /** As a new file: some file systems flush one that was cut to nothing and written again. */
    private static void put(Path file, byte[] content) throws IOException {
        Files.deleteIfExists(file);
        Files.write(file, content);
    }

    private static byte[] withFlip(byte[] whole, int at, int flip) {
        byte[] flipped = whole.clone();
        flipped[at] ^= (byte) flip;
        return flipped;
    }
}
