package io.tabletrelay.core.store.log;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.tabletrelay.core.store.IdRange;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** What is found by its bytes alone, where Chronicle's reader ends. */
class SegmentSearchTest {
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
    void aCopyOfALaterRecordOverAnEarlierOneHidesThatOneOnly() throws IOException {
        DamageTrial trial = new DamageTrial(folder.resolve("events"), 50);

        DamageTrial.Outcome outcome = trial.runOverBoots(file -> {
            file.seek(trial.wordOf(20));
            file.write(trial.recordOf(40));
        });

        assertThat(outcome).isEqualTo(new DamageTrial.Outcome(trial.ids(20), List.of(new IdRange(20, 20)), 51));
    }

    @Test
    void aPageOfCopiesAnywhereInALongSegmentHidesOnlyWhatItCovers() throws IOException {
        int events = 12_000;
        Path file = write(events);
        List<Long> whole = foundIds(file, events);
        assertThat(whole).hasSize(events);
        int pageBytes = 4096;
        try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
            byte[] late = new byte[pageBytes];
            open.seek(240L * pageBytes);
            open.readFully(late);
            assertThat(late)
                    .as("copies of records, the last one of the log among them")
                    .isNotEqualTo(new byte[pageBytes]);
            for (int page : new int[] {10, 50, 200}) {
                byte[] before = new byte[pageBytes];
                open.seek((long) page * pageBytes);
                open.readFully(before);
                open.seek((long) page * pageBytes);
                open.write(late);

                List<Long> found = foundIds(file, events);

                assertThat(found).as("page %d", page).hasSizeBetween(events - 55, events - 48);
                long lost = LongStream.rangeClosed(1, events)
                        .filter(id -> !found.contains(id))
                        .max()
                        .orElseThrow();
                assertThat(found.get(found.size() - 1)).isEqualTo(events);
                assertThat(lost - firstLost(found)).isLessThan(55);
                open.seek((long) page * pageBytes);
                open.write(before);
            }
        }
    }

    @Test
    void pagesThatTheDiskCannotReadHideOnlyTheEventsInThem() throws IOException {
        int events = 3_000;
        Path file = write(events);
        int first = 40_960;
        int end = first + 2 * 4096;

        List<Long> found;
        try (SegmentSearch search =
                new SegmentSearch(new SegmentBytes(file, new UnreadablePages(file, first, end)), record())) {
            found = foundIds(search, events);
        }

        assertThat(found).hasSizeBetween(events - 108, events - 98);
        assertThat(found.get(found.size() - 1)).isEqualTo(events);
        assertThat(found).startsWith(1L, 2L, 3L);
    }

    /** Two bytes before the page that cannot be read the search asks for more than there is. */
    @Test
    void aSearchThatStandsAtTheEdgeOfAnUnreadablePageGoesOn() throws IOException {
        Path file = write(200);
        for (int edge = 0; edge < 128; edge += 4) {
            int first = SegmentFile.BIRTH_BYTES + edge;
            try (SegmentSearch search = new SegmentSearch(
                    new SegmentBytes(file, new UnreadablePages(file, first, first + 100)), record())) {
                assertThat(foundIds(search, 200))
                        .as("edge %d", edge)
                        .hasSizeBetween(140, 200)
                        .endsWith(200L);
            }
        }
    }

    private Path write(int events) throws IOException {
        try (TestLog log = new TestLog(folder.resolve("long"))) {
            for (int i = 1; i <= events; i++) {
                log.append("event " + i);
            }
            assertThat(log.files()).hasSize(1);
            return log.files().get(0);
        }
    }

    private static long firstLost(List<Long> found) {
        long next = 1;
        for (long id : found) {
            if (id != next) {
                return next;
            }
            next++;
        }
        return next;
    }

    private static List<Long> foundIds(Path file, long lastId) throws IOException {
        try (SegmentSearch search = new SegmentSearch(file, record())) {
            return foundIds(search, lastId);
        }
    }

    private static List<Long> foundIds(SegmentSearch search, long lastId) throws IOException {
        List<Long> ids = new ArrayList<>();
        long next = 1;
        while (next <= lastId) {
            FoundEvents found = FoundEvents.from(search, next, lastId);
            for (long id = found.next(next); found.covers(id); id = found.next(id + 1)) {
                ids.add(id);
                assertThat(search.read(found.position(id))).isTrue();
            }
            next = found.next(Long.MAX_VALUE - 1);
        }
        return ids;
    }

    private static StoredRecord record() {
        return new StoredRecord(1 << 20, TestLog.SALT);
    }

    private static Logger logger() {
        return (Logger) LoggerFactory.getLogger("io.tabletrelay.core.store");
    }
}
