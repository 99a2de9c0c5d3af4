package io.tabletrelay.core.store.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.EventLog;
import io.tabletrelay.core.store.EventTailer;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A log that is closed in order and opened again by the same process, many times. */
class LogResumptionTest {
    private final Path folder;
    private final TestLog.MemoryMark mark = new TestLog.MemoryMark();
    private final LogMemory memory = new LogMemory();
    private EventLog log;

    LogResumptionTest(@TempDir Path folder) {
        this.folder = folder.resolve("events");
        log = open();
    }

    @AfterEach
    void close() {
        log.close();
    }

    @Test
    void appendsGoOnInTheSegmentWhereTheyEnded() throws IOException {
        for (int n = 1; n <= 200; n++) {
            assertThat(append("e" + n)).isEqualTo(n);
            reopenInOrder();
        }

        assertThat(segments()).hasSize(1);
        assertThat(events()).containsExactlyElementsOf(texts(200));
        assertThat(log.voidIds()).isZero();
    }

    @Test
    void whatWasAppendedOverManyClosesIsThereAfterARestart() {
        for (int n = 1; n <= 100; n++) {
            append("e" + n);
            if (n % 10 == 0) {
                reopenInOrder();
            }
        }

        log.close();
        log = open();

        assertThat(events()).containsExactlyElementsOf(texts(100));
        assertThat(append("e101")).isEqualTo(101);
    }

    @Test
    void manyRecordsPassTheIndexPagesOfASegmentThatWasClosedInBetween() {
        for (int n = 1; n <= 70_000; n++) {
            append("e" + n);
            if (n % 9_973 == 0) {
                reopenInOrder();
            }
        }
        reopenInOrder();

        assertThat(events()).containsExactlyElementsOf(texts(70_000));
        try (EventTailer tailer = log.openTailer()) {
            tailer.moveTo(40_001);
            assertThat(tailer.nextOpened()).isEqualTo(EventTailer.Step.EVENT);
            assertThat(tailer.id()).isEqualTo(40_001);
        }
    }

    @Test
    void producersAreKnownStill() {
        log.makeRoomFor(TestLog.group(new ProducerSequence("p", 1), "a"));
        log.append(TestLog.group(new ProducerSequence("p", 1), "a"));

        reopenInOrder();

        assertThat(log.lastSequence("p")).isEqualTo(1);
        assertThat(Objects.requireNonNull(log.idsOf(new ProducerSequence("p", 1)))
                        .first())
                .isEqualTo(1);
    }

    @Test
    void aLogThatNobodyAppendedToIsFoundAsItWas() {
        append("e1");
        log.close();
        log = open();

        reopenInOrder();
        reopenInOrder();

        assertThat(log.lastId()).isEqualTo(1);
        assertThat(append("e2")).isEqualTo(2);
        assertThat(events()).containsExactly("e1", "e2");
    }

    @Test
    void aLogThatWasNotClosedInOrderGoesOnInAnotherSegment() throws IOException {
        append("e1");
        log.close();
        log = open();

        append("e2");

        assertThat(segments()).hasSize(2);
        assertThat(events()).containsExactly("e1", "e2");
    }

    @Test
    void aLogWhoseLastAppendFailedIsRecovered() throws IOException {
        append("e1");
        assertThat(catchThrowableOfAppend()).isNotNull();

        reopenInOrder();

        append("e2");
        assertThat(segments()).hasSize(2);
        assertThat(events()).containsExactly("e1", "e2");
    }

    @Test
    void aFileThatWasWrittenToWhileTheLogWasClosedIsNotAppendedTo() throws IOException {
        append("e1");
        append("e2");
        memory.closeInOrder();
        Path file = file();
        try (RandomAccessFile damaged = new RandomAccessFile(file.toFile(), "rw")) {
            damaged.seek(SegmentFile.BIRTH_BYTES + 200);
            damaged.write(0x55);
        }
        Files.setLastModifiedTime(file, FileTime.from(Instant.ofEpochSecond(1)));

        log = open();

        append("e3");
        assertThat(segments()).hasSize(2);
        assertThat(events()).contains("e3");
    }

    @Test
    void aFileThatWasCutShortWhileTheLogWasClosedCostsItsEventsOnly() throws IOException {
        append("e1");
        memory.closeInOrder();
        try (FileChannel channel = FileChannel.open(file(), StandardOpenOption.WRITE)) {
            channel.truncate(100);
        }

        log = open();

        append("new");
        assertThat(events()).contains("new").doesNotContain("e1");
    }

    @Test
    void aSegmentThatWentAwayWhileTheLogWasClosedCostsItsEventsOnly() throws IOException {
        append("e1");
        memory.closeInOrder();
        try (Stream<Path> all = Files.walk(segments().get(0))) {
            for (Path each : all.sorted((a, b) -> b.compareTo(a)).toList()) {
                Files.delete(each);
            }
        }

        log = open();

        assertThat(append("new")).isGreaterThan(1);
        assertThat(events()).containsExactly("new");
    }

    private @Nullable Throwable catchThrowableOfAppend() throws IOException {
        EventGroup group = TestLog.group(null, "x");
        // somebody else writes to Chronicle's header: the writer sees that its place is not the end any more
        try (RandomAccessFile header = new RandomAccessFile(file().toFile(), "rw")) {
            header.seek(0x40);
            header.writeLong(0);
        }
        return catchThrowable(() -> log.append(group));
    }

    private void reopenInOrder() {
        memory.closeInOrder();
        log = open();
    }

    private EventLog open() {
        LogOrigin origin = new LogOrigin(7, 11, 1, 0, false, LogOrigin.NOT_KNOWN);
        return EventLogs.open(folder, "orders", origin, mark, StoreConfig.DEFAULT, () -> Instant.EPOCH, memory);
    }

    private long append(String text) {
        EventGroup group = TestLog.group(null, text);
        if (!log.hasRoomFor(group)) {
            log.makeRoomFor(group);
        }
        return log.append(group);
    }

    private List<String> events() {
        try (EventTailer tailer = log.openTailer()) {
            return List.copyOf(TestLog.readAll(tailer).events().values());
        }
    }

    private static List<String> texts(int count) {
        return IntStream.rangeClosed(1, count).mapToObj(n -> "e" + n).toList();
    }

    private List<Path> segments() throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.sorted().toList();
        }
    }

    private Path file() throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(path -> path.toString().endsWith(SegmentFolder.SUFFIX))
                    .sorted()
                    .findFirst()
                    .orElseThrow();
        }
    }
}
