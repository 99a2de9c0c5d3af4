package io.tabletrelay.core.store.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.api.Durability;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.store.IdRange;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Pages of the last segment that a power cut took, with later ones that had been written back before it. */
class HolesAfterPowerCutTest {
    private static final int PAGE_BYTES = 4096;
    private static final int EVENTS = 60;
    private static final String PAD = "x".repeat(1000);

    @TempDir
    Path folder;

    @Test
    void atProcessWhatSurvivedBehindAHoleIsThereAndTheHoleIsSaid() throws IOException {
        try (TestLog log = written()) {
            TestLog.Read read = log.readAll();

            assertThat(read.damaged()).hasSize(1);
            IdRange hole = read.damaged().get(0);
            assertThat(read.events()).hasSize(EVENTS - (int) (hole.last() - hole.first() + 1));
            assertThat(read.events()).containsEntry((long) EVENTS, EVENTS + PAD);
            assertThat(log.append("next")).isGreaterThan(log.mark.value() - 100).isGreaterThan(EVENTS);
        }
    }

    @Test
    void atDiskTheLogEndsAtTheFirstHoleOfWhatWasNotForcedAndNoSequenceBehindItCounts() throws IOException {
        try (TestLog log = new TestLog(folder.resolve("events"), atDisk())) {
            log.append("1" + PAD);
            log.log.force();
            for (int sequence = 1; sequence <= 9; sequence++) {
                log.append(TestLog.group(new ProducerSequence("producer", sequence), sequence + PAD));
            }
            tearOut(log, 4, 2 * PAD.length());

            log.log = log.open(0, true);
            log.log.force();

            TestLog.Read read = log.readAll();
            assertThat(read.damaged()).isEmpty();
            assertThat(read.events()).containsOnlyKeys(1L, 2L, 3L);
            assertThat(log.log.lastSequence("producer")).isEqualTo(2);
            assertThat(log.append("next")).isGreaterThan(10);
        }
    }

    @Test
    void atDiskAHoleInWhatWasForcedIsDamageAndWhatIsBehindItIsThere() throws IOException {
        try (TestLog log = new TestLog(folder.resolve("events"), atDisk())) {
            for (int id = 1; id <= 8; id++) {
                log.append(id + PAD);
            }
            log.log.force();
            log.append("9" + PAD);
            tearOut(log, 4, 2 * PAD.length());

            log.log = log.open(0, true);
            log.log.force();

            TestLog.Read read = log.readAll();
            assertThat(read.damaged()).containsExactly(new IdRange(4, 5));
            assertThat(read.events()).containsOnlyKeys(1L, 2L, 3L, 6L, 7L, 8L, 9L);
        }
    }

    private static StoreConfig atDisk() {
        StoreConfig small = TestLog.SMALL;
        return new StoreConfig(
                small.segmentBytes(),
                small.maxEventBytes(),
                0,
                0,
                0,
                Durability.DISK,
                small.commit(),
                small.whenFull(),
                small.onDamage(),
                small.retention());
    }

    /** Closes the log as a cut would, and so many bytes from that event on are as they were before it. */
    private static void tearOut(TestLog log, long id, int bytes) throws IOException {
        Path file = log.files().get(0);
        log.log.close();
        for (String note : List.of("covered", "ended")) {
            Files.deleteIfExists(file.resolveSibling(note));
        }
        try (SegmentSearch search = new SegmentSearch(file, new StoredRecord(1 << 20, TestLog.SALT));
                RandomAccessFile after = new RandomAccessFile(file.toFile(), "rw")) {
            assertThat(search.find(id, id)).isEqualTo(id);
            after.seek(search.foundPosition());
            after.write(new byte[bytes]);
        }
    }

    @Test
    void atDiskAGroupWhoseEndIsGoneIsVoidThoughTheHeaderCountsIt() throws IOException {
        try (TestLog log = new TestLog(folder.resolve("events"), atDisk())) {
            log.append("1");
            log.append("2", "3", "4" + PAD, "5" + PAD);
            Path file = log.files().get(0);
            log.log.close();
            try (SegmentSearch search = new SegmentSearch(file, new StoredRecord(1 << 20, TestLog.SALT));
                    RandomAccessFile after = new RandomAccessFile(file.toFile(), "rw")) {
                assertThat(search.find(4, 4)).isEqualTo(4);
                after.seek(search.foundPosition());
                after.write(new byte[PAGE_BYTES]);
            }

            log.log = log.open(0, true);

            assertThat(log.log.lastId()).isGreaterThan(5);
            assertThat(log.log.skipVoid(2)).isGreaterThan(5);
            assertThat(log.append("next")).isGreaterThan(5);
        }
    }

    @Test
    void idsThatAreVoidStayVoidThoughTheSegmentBehindThemGotNoEventBeforeTheNextStop() {
        try (TestLog log = new TestLog(folder.resolve("events"))) {
            log.append("1");
            log.reopen(0, true);
            log.log.makeRoomFor(TestLog.group(null, "2"));
            long voidIds = log.log.voidIds();
            assertThat(voidIds).isPositive();

            log.reopen();
            long next = log.append("2");
            log.reopen();

            assertThat(log.readAll().damaged()).isEmpty();
            assertThat(log.log.voidIds()).isEqualTo(voidIds);
            assertThat(log.log.skipVoid(2)).isEqualTo(next);
        }
    }

    /** What was written from the 20th event on is as it was before, for three pages, and so is Chronicle's header, which knows the end. */
    private TestLog written() throws IOException {
        TestLog log = new TestLog(folder.resolve("events"));
        log.append("1" + PAD);
        Path file = log.files().get(0);
        byte[] header = new byte[PAGE_BYTES];
        try (RandomAccessFile before = new RandomAccessFile(file.toFile(), "r")) {
            before.readFully(header);
        }
        for (int id = 2; id <= EVENTS; id++) {
            log.append(id + PAD);
        }
        log.log.close();
        try (SegmentSearch search = new SegmentSearch(file, new StoredRecord(1 << 20, TestLog.SALT));
                RandomAccessFile after = new RandomAccessFile(file.toFile(), "rw")) {
            assertThat(search.find(20, 20)).isEqualTo(20);
            after.write(header);
            after.seek(search.foundPosition());
            after.write(new byte[3 * PAGE_BYTES]);
        }
        log.log = log.open(0, true);
        return log;
    }
}
