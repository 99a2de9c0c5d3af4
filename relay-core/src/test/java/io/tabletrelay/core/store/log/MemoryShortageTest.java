package io.tabletrelay.core.store.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.core.store.ChildJvm;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Too little memory harms no event and no log. */
class MemoryShortageTest {
    @TempDir
    Path folder;

    @Test
    void manyLogsOfLargeEventsNeedNoMoreMemoryThanOne() throws IOException {
        String path = folder.toString();
        try (ChildJvm child = ChildJvm.start(directMemory("20m"), ShortOfMemory.class, "many", path)) {
            assertThat(child.lastLine()).isEqualTo("read " + 2 * ShortOfMemory.LOGS * ShortOfMemory.EVENTS);
        }
    }

    @Test
    void aShortageIsNoDamageAndRefusesOnlyWhatIsTooLargeForIt() throws IOException {
        try (TestLog written = ShortOfMemory.write(folder.resolve("log"))) {
            written.reopen();
            written.append("in a segment of its own, which an open can scan");
        }
        String path = folder.resolve("log").toString();
        try (ChildJvm child = ChildJvm.start(directMemory("2m"), ShortOfMemory.class, "one", path)) {
            assertThat(child.lastLine()).isEqualTo("PIPE_FAILED PIPE_FAILED BUSY 4 5");
        }
    }

    private static List<String> directMemory(String most) {
        List<String> options = new ArrayList<>(ChildJvm.moduleOptions());
        options.add("-XX:MaxDirectMemorySize=" + most);
        return options;
    }
}
