package io.tabletrelay.core.store.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.core.store.IdRange;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Folders of segments that are gone, or older copies of them, while the machine ran on: what they had is damaged, and no id is given again. */
class LostSegmentsTest {
    @TempDir
    private Path folder;

    @Test
    void theNewestFolderIsGone() throws IOException {
        try (TestLog log = threeSegments()) {
            delete(segments().get(2));

            reopen(log);

            assertDamaged(log, new IdRange(7, 9));
        }
    }

    @Test
    void anOlderCopyOfTheNewestFolderWasPutBack() throws IOException {
        try (TestLog log = threeSegments()) {
            Path newest = segments().get(2);
            Path copy = folder.resolve("copy");
            log.log.close();
            copy(newest, copy);
            log.log = log.open(9, false);
            List<Long> more = List.of(log.append("10"), log.append("11"));
            assertThat(more).containsExactly(10L, 11L);
            Path last = segments().get(3);
            log.log.close();
            delete(last);
            delete(newest);
            copy(copy, newest);

            log.log = log.open(11, false);

            assertDamaged(log, new IdRange(10, 11));
        }
    }

    @Test
    void theOldestFolderIsGone() throws IOException {
        try (TestLog log = threeSegments()) {
            delete(segments().get(0));

            reopen(log);

            assertThat(log.readAll().damaged()).containsExactly(new IdRange(1, 3));
            assertThat(log.append("next")).isEqualTo(10);
            reopen(log);
            assertThat(log.readAll().damaged()).containsExactly(new IdRange(1, 3));
        }
    }

    @Test
    void allFoldersAreGone() throws IOException {
        try (TestLog log = threeSegments()) {
            for (Path segment : segments()) {
                delete(segment);
            }

            reopen(log);

            IdRange upToTheMark = new IdRange(1, log.mark.value());
            assertDamaged(log, upToTheMark);
            reopen(log);
            assertThat(log.readAll().damaged()).contains(upToTheMark);
        }
    }

    @Test
    void whatWasDeletedInOrderIsNotMissed() throws IOException {
        try (TestLog log = threeSegments()) {
            delete(segments().get(0));
            log.keptFromId = 4;

            reopen(log);

            assertThat(log.readAll().damaged()).isEmpty();
            assertThat(log.readAll().events()).containsOnlyKeys(4L, 5L, 6L, 7L, 8L, 9L);
        }
    }

    private static void assertDamaged(TestLog log, IdRange lost) {
        assertThat(log.readAll().damaged()).containsExactly(lost);
        assertThat(log.append("next")).isGreaterThan(11);
    }

    private static void reopen(TestLog log) {
        log.log.close();
        log.log = log.open(9, false);
    }

    /** With three events each. */
    private TestLog threeSegments() {
        TestLog log = new TestLog(folder.resolve("events"));
        log.keptFromId = 1;
        for (int id = 1; id <= 9; id++) {
            log.append("event " + id);
            if (id % 3 == 0 && id < 9) {
                log.reopen(id, false);
            }
        }
        return log;
    }

    private List<Path> segments() throws IOException {
        try (Stream<Path> all = Files.list(folder.resolve("events"))) {
            return all.sorted().toList();
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path each : all.sorted().toList()) {
                Files.copy(each, to.resolve(from.relativize(each)));
            }
        }
    }

    private static void delete(Path tree) {
        try (Stream<Path> all = Files.walk(tree)) {
            for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(each);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
