package io.tabletrelay.core.store.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.core.store.ChildJvm;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EventLogsTest {
    @TempDir
    Path folder;

    @Test
    void theFirstLogCanBeOpenedWhileTheProcessStops() throws IOException {
        try (ChildJvm child = ChildJvm.start(
                ChildJvm.moduleOptions(),
                OpensWhileStopping.class,
                folder.resolve("log").toString())) {
            assertThat(child.lastLine()).isEqualTo("appended 1 read 1");
        }
    }
}
