package io.tabletrelay.core.store.folder;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tabletrelay.api.Payload;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.SmallFile;
import io.tabletrelay.core.store.StoreException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PipeStoreTest {
    private static final InstantSource CLOCK = () -> Instant.EPOCH;

    @TempDir
    private Path folder;

    @Test
    void theLogsAreClosedThoughTheAttemptsCannotBeWritten() throws IOException {
        try (DataDirectory directory = DataDirectory.open(folder.resolve("data"), CLOCK, () -> "boot")) {
            PipeFolder pipe = directory.pipe(new PipeName("p"));
            PipeStore store = PipeStore.open(pipe, StoreConfig.DEFAULT, 1 << 20, CLOCK);
            EventGroup group = new EventGroup(
                    List.of(new Payload("text/plain", Map.of(), ByteBuffer.wrap(new byte[] {'a'}))), null, 0);
            store.log().makeRoomFor(group);
            store.log().append(group);
            store.attempts().record(1, 1, 0, "negative ack");
            Files.createDirectories(SmallFile.temp(pipe.attemptsFile("default")).resolve("in the way"));

            assertThatThrownBy(store::close).isInstanceOf(StoreException.class).hasMessageContaining("attempts");

            assertThatThrownBy(() -> store.log().append(group)).hasMessageContaining("log takes no appends");
        }
    }
}
