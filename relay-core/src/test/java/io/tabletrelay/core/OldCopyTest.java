package io.tabletrelay.core;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.tabletrelay.api.ProducerSequence;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** One file of a pipe is put back as it was earlier, valid in itself: no id gets a second meaning by it. */
class OldCopyTest {
    private static final int EARLY_EVENTS = 20;
    private static final int EVENTS = 300;

    @TempDir
    private Path folder;

    private TestData data;
    private Path olds;

    @BeforeEach
    void write() throws IOException {
        logger().setLevel(Level.OFF);
        data = new TestData(folder.resolve("data"));
        olds = Files.createDirectories(folder.resolve("olds"));
        data.open("plant", store -> {
            for (int i = 1; i <= EVENTS; i++) {
                long id = TestData.append(store, "event " + i, new ProducerSequence("producer", i));
                if (id == EARLY_EVENTS) {
                    store.attempts().record(1, 1, 0, "negative ack");
                    store.attempts().flush();
                    keep();
                }
                if (id < EVENTS / 2) {
                    store.settled().raiseDeliveredUpTo(id);
                    store.settled().settle(id);
                }
            }
            store.attempts().forget(1);
        });
    }

    @AfterEach
    void speakAgain() {
        logger().setLevel(null);
    }

    @Test
    void anOldPipeFileCostsNothing() throws IOException {
        putBack("pipe.json");

        data.open("plant", store -> {
            assertThat(TestData.read(store)).hasSize(EVENTS);
            assertThat(TestData.append(store, "next", null)).isEqualTo(EVENTS + 1);
            assertThat(store.log().lastSequence("producer")).isEqualTo(EVENTS);
        });
    }

    @Test
    void anOldPipeFileCostsNothingAfterAKill() throws IOException {
        putBack("pipe.json");
        Files.delete(data.files("plant", "ended").get(0));

        data.open("plant", store -> {
            assertThat(TestData.read(store)).hasSize(EVENTS);
            assertThat(TestData.append(store, "next", null)).isEqualTo(EVENTS + 1);
        });
    }

    @Test
    void anOldSegmentLosesEventsByNameAndGivesNoIdAgain() throws IOException {
        putBack(".cq4");

        data.open("plant", store -> {
            Map<Long, String> read = TestData.read(store);
            assertThat(read).hasSize(EARLY_EVENTS);
            assertThat(store.log().lastId()).isEqualTo(EVENTS);
            assertThat(TestData.append(store, "next", null)).isEqualTo(EVENTS + 1);
        });
        assertThat(CommandRun.of("check-data", data.path().toString()).out())
                .contains("ids=" + (EARLY_EVENTS + 1) + " to " + EVENTS + "; events cannot be read");
    }

    @Test
    void oldAcksAndAttemptsCostRedeliveriesOnly() throws IOException {
        putBack(".settled");
        putBack(".attempts");

        data.open("plant", store -> {
            assertThat(TestData.read(store)).hasSize(EVENTS);
            for (long id = EARLY_EVENTS; id <= EVENTS; id++) {
                assertThat(store.settled().isSettled(id)).isFalse();
            }
            assertThat(store.attempts().size()).isEqualTo(1);
            assertThat(TestData.append(store, "next", null)).isEqualTo(EVENTS + 1);
        });
    }

    private void keep() {
        try {
            for (String suffix : new String[] {"pipe.json", ".cq4", ".settled", ".attempts"}) {
                Files.copy(data.files("plant", suffix).get(0), olds.resolve(suffix));
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private void putBack(String suffix) throws IOException {
        Path file = data.files("plant", suffix).get(0);
        Files.write(file, Files.readAllBytes(olds.resolve(suffix)));
    }

    private static Logger logger() {
        return (Logger) LoggerFactory.getLogger("io.tabletrelay.core.store");
    }
}
