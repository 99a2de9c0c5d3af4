package io.tabletrelay.core.store.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.tabletrelay.api.Payload;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.EventTailer;
import io.tabletrelay.core.store.EventTailer.Step;
import io.tabletrelay.core.store.IdRange;
import io.tabletrelay.core.store.StoreException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Readers of a damaged log, beside others. */
class ChronicleEventTailerTest {
    @TempDir
    Path folder;

    @BeforeEach
    void beQuiet() {
        logger().setLevel(Level.OFF);
    }

    @AfterEach
    void speakAgain() {
        logger().setLevel(null);
    }

    @Test
    void eventsAppendedWhileASegmentIsSearchedAreFound() throws IOException {
        try (TestLog test = new TestLog(folder);
                EventTailer tailer = test.log.openTailer()) {
            test.append("first");
            test.append("damaged");
            test.append("third");
            damage(test.files().get(0), "damaged");
            TestLog.Read before = TestLog.readAll(tailer);
            assertThat(before.damaged()).containsExactly(new IdRange(2, 2));

            for (int id = 4; id <= 10; id++) {
                test.append("later");

                assertThat(TestLog.readAll(tailer)).satisfies(read -> {
                    assertThat(read.events()).containsValue("later");
                    assertThat(read.damaged()).isEmpty();
                });
            }
        }
    }

    @Test
    void aSearchThatFoundNothingFindsWhatIsAppendedLater() throws IOException {
        try (TestLog test = new TestLog(folder)) {
            test.append("first");
            StoredRecord record = new StoredRecord(1000, TestLog.SALT);
            try (SegmentSearch search = new SegmentSearch(test.files().get(0), record)) {
                assertThat(FoundEvents.from(search, 2, 3).next(2)).isEqualTo(4);
                test.append("second", "third");

                FoundEvents found = FoundEvents.from(search, 2, 3);

                assertThat(found.next(2)).isEqualTo(2);
                assertThat(search.read(found.position(3))).isTrue();
                assertThat(text(record.payload())).isEqualTo("third");
            }
        }
    }

    /** As a publisher may who has seen the files of another pipe, or of this one before it was made anew. */
    @Test
    void anEventHiddenInAnothersPayloadIsNeverTakenForOne() throws IOException {
        ByteBuffer forged = ByteBuffer.allocateDirect(200);
        EventGroup group = TestLog.group(null, "never published");
        RecordFormat.writeEvent(forged, 3, 1, group, 0, new RecordChecksum(TestLog.SALT + 1));
        ByteBuffer carrier = ByteBuffer.allocate(1000);
        for (int at = 0; at + Integer.BYTES + forged.limit() <= carrier.capacity(); at += 101) {
            carrier.order(ByteOrder.LITTLE_ENDIAN).putInt(at, forged.limit());
            carrier.put(at + Integer.BYTES, forged, 0, forged.limit());
        }
        try (TestLog test = new TestLog(folder)) {
            test.append("first");
            test.append(new EventGroup(List.of(new Payload("damaged", Map.of(), carrier)), null, 0));
            test.append("third");
            damage(test.files().get(0), "damaged");
            test.reopen();

            TestLog.Read read = test.readAll();

            assertThat(read.damaged()).containsExactly(new IdRange(2, 2));
            assertThat(read.events()).containsOnly(Map.entry(1L, "first"), Map.entry(3L, "third"));
        }
    }

    @Test
    void appendsGoOnInAnotherSegmentOnceDamageWasFoundInTheirs() throws IOException {
        try (TestLog test = new TestLog(folder)) {
            test.append("first", "damaged");
            damage(test.files().get(0), "damaged");
            assertThat(test.readAll().damaged()).containsExactly(new IdRange(2, 2));

            test.append("third");

            assertThat(test.files()).hasSize(2);
            assertThat(test.readAll().events()).containsOnlyKeys(1L, 3L);
        }
    }

    /** Chronicle would look for its place through the whole file, on a transfer thread. */
    @Test
    void aFileThatIsWipedUnderItsWriterTakesNoAppend() throws IOException {
        try (TestLog test = new TestLog(folder)) {
            test.append("first");
            loseFirstPage(test.files().get(0));

            assertThatThrownBy(() -> test.append("second"))
                    .isInstanceOf(StoreException.class)
                    .hasStackTraceContaining("file was changed by somebody else");

            test.reopen();
            test.append("third");
            assertThat(test.readAll().events()).containsValues("first", "third");
        }
    }

    /** Large events of all readers of a thread lie in the same buffer. */
    @Test
    void aLargeEventFoundBehindDamageIsItselfThoughAnotherWasReadMeanwhile() throws IOException {
        try (TestLog test = new TestLog(folder.resolve("a"));
                TestLog other = new TestLog(folder.resolve("b"));
                EventTailer tailer = test.log.openTailer();
                EventTailer another = other.log.openTailer()) {
            test.append("damaged");
            test.append("a".repeat(100_000));
            other.append("b".repeat(100_000));
            damage(test.files().get(0), "damaged");
            assertThat(tailer.nextOpened()).isEqualTo(Step.DAMAGED);

            assertThat(another.nextOpened()).isEqualTo(Step.EVENT);

            assertThat(tailer.nextOpened()).isEqualTo(Step.EVENT);
            assertThat(text(tailer.payload())).isEqualTo("a".repeat(100_000));
        }
    }

    @Test
    void aDamagedSegmentIsSearchedOnlyWhereItMayBlock() throws IOException {
        try (TestLog test = new TestLog(folder);
                EventTailer tailer = test.log.openTailer()) {
            test.append("first", "damaged", "third");
            damage(test.files().get(0), "damaged");

            assertThat(tailer.next()).isEqualTo(Step.EVENT);
            assertThat(tailer.next()).isEqualTo(Step.OPENING);
            assertThat(tailer.next()).isEqualTo(Step.OPENING);
            tailer.open();

            assertThat(tailer.next()).isEqualTo(Step.DAMAGED);
            assertThat(tailer.id()).isEqualTo(tailer.lastId()).isEqualTo(2);
            assertThat(tailer.next()).isEqualTo(Step.EVENT);
            assertThat(text(tailer.payload())).isEqualTo("third");
        }
    }

    /** More than one search finds. */
    @Test
    void aSegmentOfManyEventsIsReadToItsEndAndAnywhereThoughItsStartIsLost() throws IOException {
        try (TestLog test = new TestLog(folder)) {
            for (int id = 1; id <= 10_000; id++) {
                test.append(event(id));
            }
            for (String payload : List.of(event(17), event(5_000), event(5_001), event(10_000))) {
                damage(test.files().get(0), payload);
            }
            test.reopen();
            loseFirstPage(test.files().get(0));
            try (EventTailer reopened = test.log.openTailer()) {
                TestLog.Read read = TestLog.readAll(reopened);

                assertThat(read.damaged())
                        .containsExactly(new IdRange(17, 17), new IdRange(5000, 5001), new IdRange(10_000, 10_000));
                assertThat(read.events()).hasSize(9_996).containsEntry(9_999L, event(9_999));
                for (long id : new long[] {9_000, 2, 4_096, 4_097, 9_999, 1}) {
                    reopened.moveTo(id);
                    assertThat(reopened.nextOpened()).isEqualTo(Step.EVENT);
                    assertThat(text(reopened.payload())).isEqualTo(event(id));
                }
            }
        }
    }

    private static String event(long id) {
        return "event %05d".formatted(id);
    }

    private static void loseFirstPage(Path file) throws IOException {
        try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
            open.write(new byte[4096]);
        }
    }

    private static String text(ByteBuffer bytes) {
        return StandardCharsets.UTF_8.decode(bytes).toString();
    }

    private static void damage(Path file, String payload) throws IOException {
        write(file, offset(file, payload), '?');
    }

    private static int offset(Path file, String payload) throws IOException {
        return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1).indexOf(payload);
    }

    private static void write(Path file, int at, int value) throws IOException {
        try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
            open.seek(at);
            open.write(value);
        }
    }

    private static Logger logger() {
        return (Logger) LoggerFactory.getLogger("io.tabletrelay.core.store");
    }
}
