package io.tabletrelay.core.store.folder;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
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
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

class PipeStoreTest {
    private static final InstantSource CLOCK = () -> Instant.EPOCH;
    private static final EventGroup GROUP =
            new EventGroup(List.of(new Payload("text/plain", Map.of(), ByteBuffer.wrap(new byte[] {'a'}))), null, 0);

    @TempDir
    private Path folder;

    @Test
    void theLogsAreClosedThoughTheAttemptsCannotBeWritten() throws IOException {
        try (DataDirectory directory = DataDirectory.open(folder.resolve("data"), CLOCK, () -> "boot")) {
            PipeFolder pipe = directory.pipe(new PipeName("p"));
            PipeStore store = PipeStore.open(pipe, StoreConfig.DEFAULT, 1 << 20, CLOCK);
            store.log().makeRoomFor(GROUP);
            store.log().append(GROUP);
            store.attempts().record(1, 1, 0, "negative ack");
            Files.createDirectories(SmallFile.temp(pipe.attemptsFile("default")).resolve("in the way"));

            assertThatThrownBy(store::close).isInstanceOf(StoreException.class).hasMessageContaining("attempts");

            assertThatThrownBy(() -> store.log().append(GROUP)).hasMessageContaining("log takes no appends");
        }
    }

    @Test
    void settledIdsThatAreGoneAreNamedOnceThereAreEvents() throws IOException {
        Logger logger = (Logger) LoggerFactory.getLogger(PipeStore.class);
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        logger.addAppender(logged);
        logger.setAdditive(false);
        try (DataDirectory directory = DataDirectory.open(folder.resolve("data"), CLOCK, () -> "boot")) {
            PipeFolder pipe = directory.pipe(new PipeName("p"));
            open(pipe).close();
            Files.delete(pipe.settledFile("default"));
            try (PipeStore store = open(pipe)) {
                store.log().makeRoomFor(GROUP);
                store.log().append(GROUP);
            }
            open(pipe).close();
            assertThat(logged.list).isEmpty();
            Files.delete(pipe.settledFile("default"));

            open(pipe).close();

            assertThat(logged.list)
                    .singleElement()
                    .satisfies(line -> assertThat(line.getLevel()).isEqualTo(Level.WARN))
                    .extracting(ILoggingEvent::getFormattedMessage, as(InstanceOfAssertFactories.STRING))
                    .contains("settled ids are gone", "pipe=p", "default.settled", "events=1 to 1");
        } finally {
            logger.detachAppender(logged);
            logger.setAdditive(true);
        }
    }

    @Test
    void aDamagedWordOfTheSettledIdsIsNamedWithTheIdsThatMayComeAgain() throws IOException {
        Logger logger = (Logger) LoggerFactory.getLogger(FoundSubscriptions.class);
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        logger.addAppender(logged);
        logger.setAdditive(false);
        try (DataDirectory directory = DataDirectory.open(folder.resolve("data"), CLOCK, () -> "boot")) {
            PipeFolder pipe = directory.pipe(new PipeName("p"));
            try (PipeStore store = open(pipe)) {
                store.settled().raiseDeliveredUpTo(70);
                for (long id = 1; id <= 70; id++) {
                    store.settled().settle(id);
                }
            }
            byte[] ring = Files.readAllBytes(pipe.settledFile("default"));
            ring[128 + 8] ^= 4;
            Files.write(pipe.settledFile("default"), ring);

            try (PipeStore store = open(pipe)) {
                assertThat(store.settled().floor()).isEqualTo(31);
            }

            assertThat(logged.list)
                    .singleElement()
                    .extracting(ILoggingEvent::getFormattedMessage, as(InstanceOfAssertFactories.STRING))
                    .contains("settled ids are damaged", "pipe=p", "default.settled", "ids=32 to 63");
        } finally {
            logger.detachAppender(logged);
            logger.setAdditive(true);
        }
    }

    private static PipeStore open(PipeFolder pipe) {
        return PipeStore.open(pipe, StoreConfig.DEFAULT, 1 << 20, CLOCK);
    }
}
