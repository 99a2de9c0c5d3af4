package io.tabletrelay.core.store.folder;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.api.Payload;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.store.EventGroup;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** What a pipe's files take on the disk, all of them together, as the file system counts it. */
@EnabledOnOs(OS.LINUX)
class PipeSpaceTest {
    private static final InstantSource CLOCK = () -> Instant.EPOCH;

    @TempDir
    private Path folder;

    @Test
    void aPipeOfFewEventsThatIsOpenAndOneThatIsClosedTakeLessThan64KiB() throws Exception {
        try (DataDirectory directory = DataDirectory.open(folder.resolve("data"), CLOCK, () -> "boot")) {
            PipeFolder pipe = directory.pipe(new PipeName("p"));
            PipeStore store = PipeStore.open(pipe, StoreConfig.DEFAULT, 1 << 20, CLOCK);
            for (int i = 1; i <= 2; i++) {
                append(store, 1 << 10);
                store.settled().raiseAppendedUpTo(i);
                store.settled().raiseDeliveredUpTo(i);
                store.settled().settle(i);
            }

            assertThat(kib(pipe.path())).isBetween(16L, 63L);
            store.closeInOrder();
            assertThat(kib(pipe.path())).isBetween(16L, 63L);
        }
    }

    private static void append(PipeStore store, int payloadBytes) {
        Payload payload = new Payload("b", Map.of(), ByteBuffer.allocate(payloadBytes));
        EventGroup group = new EventGroup(List.of(payload), null, 0);
        store.log().makeRoomFor(group);
        store.log().append(group);
        if (store.log().lowOnRoom()) {
            store.log().allocateAhead();
        }
    }

    private static long kib(Path folder) throws IOException, InterruptedException {
        Process du = new ProcessBuilder("du", "-sk", folder.toString()).start();
        String answer = new String(du.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(du.waitFor()).isZero();
        return Long.parseLong(answer.split("\\s", 2)[0]);
    }
}
