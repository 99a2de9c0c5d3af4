package io.tabletrelay.core.store.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.tabletrelay.api.Durability;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.core.config.CommitConfig;
import io.tabletrelay.core.config.FullConfig;
import io.tabletrelay.core.config.OnDamage;
import io.tabletrelay.core.config.RetentionConfig;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.EventTailer;
import io.tabletrelay.core.store.OldSegments;
import io.tabletrelay.core.store.StoreException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import net.openhft.chronicle.core.io.BackgroundResourceReleaser;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The oldest segments go as a whole, whatever interrupts that, and what is told of the log stays true. */
class SegmentDeletionTest {
    private static final int EVENT_BYTES = 300 << 10;

    @TempDir
    Path folder;

    @Test
    void whatIsDeletedIsGoneAndTheRestIsAsItWas() {
        try (TestLog test = new TestLog(folder)) {
            fill(test, 4);
            long firstKept = test.log.segments().get(2).firstId();
            long last = test.log.lastId();
            long before = test.log.diskBytes();

            delete(test, firstKept - 1);

            assertThat(test.log.segments()).hasSize(2);
            assertThat(test.log.firstId()).isEqualTo(firstKept);
            assertThat(test.log.hasDeleted()).isTrue();
            assertThat(test.log.voidIds()).isZero();
            assertThat(test.log.diskBytes()).isLessThan(before - (1 << 20));
            assertThat(test.readAll().events().keySet().iterator().next()).isEqualTo(firstKept);
            assertThat(test.append("next")).isEqualTo(last + 1);
            assertThat(names()).hasSize(2);
        }
    }

    @Test
    void numbersStayTrueAfterARestart() {
        try (TestLog test = new TestLog(folder)) {
            fill(test, 3);
            test.mark.raiseTo(test.log.lastId() + 50);
            test.reopen(0, true); // as after a power cut: 50 ids are void
            fill(test, 3);
            long voids = test.log.voidIds();
            assertThat(voids).isGreaterThanOrEqualTo(50);
            long newest =
                    test.log.segments().get(test.log.segments().size() - 1).firstId();

            delete(test, newest - 1);
            test.reopen();

            assertThat(test.log.voidIds()).isEqualTo(voids);
            assertThat(test.log.voidIdsAbove(test.log.firstId() - 1)).isZero();
            assertThat(test.log.firstId()).isEqualTo(newest);
            assertThat(test.log.hasDeleted()).isTrue();
        }
    }

    @Test
    void theNewestStaysSoThatNoIdIsGivenTwice() {
        try (TestLog test = new TestLog(folder)) {
            fill(test, 3);
            long last = test.log.lastId();

            delete(test, Long.MAX_VALUE - 1);
            test.reopen();
            delete(test, Long.MAX_VALUE - 1);

            assertThat(test.log.segments()).hasSize(1);
            assertThat(test.append("next")).isEqualTo(last + 1);
        }
    }

    /** Whether it was killed after the rename, or with only some of the files gone. */
    @Test
    void aDeletionThatWasKilledIsGoneOnWithAtTheNextOpen() throws IOException {
        try (TestLog test = new TestLog(folder)) {
            fill(test, 4);
            Segment first = test.log.segments().get(0);
            Segment second = test.log.segments().get(1);
            long firstKept = test.log.segments().get(2).firstId();
            test.log.close();
            first.folder().renameDeleted();
            Path left = second.folder().renameDeleted();
            Files.delete(left.resolve("born"));

            test.log = test.open(0, false);

            assertThat(names()).hasSize(test.log.segments().size());
            assertThat(test.log.firstId()).isEqualTo(firstKept);
            assertThat(test.readAll().damaged()).isEmpty();
        }
    }

    @Test
    void aReaderThatStoodThereGoesOnBehind() {
        try (TestLog test = new TestLog(folder);
                EventTailer tailer = test.log.openTailer()) {
            fill(test, 4);
            assertThat(tailer.nextOpened()).isEqualTo(EventTailer.Step.EVENT);
            long firstKept = test.log.segments().get(2).firstId();

            delete(test, firstKept - 1);

            assertThat(tailer.nextOpened()).isEqualTo(EventTailer.Step.EVENT);
            assertThat(tailer.id()).isEqualTo(firstKept);
        }
    }

    @Test
    void aSegmentThatIsBeingOpenedForAReaderStays() {
        try (TestLog test = new TestLog(folder);
                EventTailer tailer = test.log.openTailer()) {
            fill(test, 4);
            test.reopen();
            EventTailer opening = test.log.openTailer();
            long secondId = test.log.segments().get(1).firstId();
            opening.moveTo(secondId);
            assertThat(opening.next()).isEqualTo(EventTailer.Step.OPENING);

            long released = test.log.oldSegments().release(Long.MAX_VALUE - 1);

            assertThat(released).isEqualTo(secondId - 1);
            opening.open();
            assertThat(test.log.oldSegments().release(Long.MAX_VALUE - 1)).isEqualTo(Long.MAX_VALUE - 1);
            tailer.moveTo(1);
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void nothingOfADeletedSegmentStaysOpenOrMapped() {
        try (TestLog test = new TestLog(folder);
                EventTailer tailer = test.log.openTailer()) {
            for (int roll = 0; roll < 20; roll++) {
                fill(test, 2);
                tailer.moveTo(test.log.firstId());
                assertThat(tailer.nextOpened()).isEqualTo(EventTailer.Step.EVENT);
                delete(test, test.log.lastId());
            }
            BackgroundResourceReleaser.releasePendingResources();

            assertThat(test.log.segments()).hasSize(1);
            await("unmapped").untilAsserted(() -> assertThat(openDeleted()).isEmpty());
        }
    }

    @Test
    void settledSegmentsAreKeptByTheAgeOfTheirNewestEvent() {
        try (TestLog test = new TestLog(folder, retaining(new RetentionConfig(Duration.ofSeconds(10), 0)))) {
            fillAt(test, 3, 1_000);
            long firstEnd = test.log.oldSegments().firstEnd();
            fillAt(test, 3, 5_000);
            long last = test.log.lastId();

            assertThat(test.log.oldSegments().expired(last, 10_999)).isEqualTo(new OldSegments.Expired(0, 11_000));
            OldSegments.Expired expired = test.log.oldSegments().expired(last, 11_000);
            assertThat(expired.upToId()).isGreaterThanOrEqualTo(firstEnd).isLessThan(last);
            assertThat(expired.nextMillis()).isEqualTo(15_000);

            test.reopen(); // now the times must be read

            assertThat(test.log.oldSegments().expired(last, 11_000)).isEqualTo(expired);
            assertThat(test.log.oldSegments().expired(firstEnd - 1, 99_000).upToId())
                    .isZero();
        }
    }

    @Test
    void settledSegmentsAreKeptWhileTheLogIsSmall() {
        try (TestLog test = new TestLog(folder, retaining(new RetentionConfig(Duration.ZERO, 4 << 20)))) {
            fill(test, 3);
            long last = test.log.lastId();
            assertThat(test.log.oldSegments().expired(last, 0)).isEqualTo(new OldSegments.Expired(0, OldSegments.NONE));

            fill(test, 7);
            long upTo = test.log.oldSegments().expired(test.log.lastId(), 0).upToId();
            delete(test, upTo);

            assertThat(upTo).isPositive();
            assertThat(test.log.diskBytes()).isBetween(2L << 20, 4L << 20);
        }
    }

    @Test
    void aLogAtItsLimitGoesOnInANewSegmentInPlaceOfTheSettledOnes() {
        StoreConfig config = new StoreConfig(1 << 20, 1 << 20, 4 << 20, 0, 64 << 20);
        try (TestLog test = new TestLog(folder, config)) {
            EventGroup group = TestLog.bytes(EVENT_BYTES);
            assertThatThrownBy(() -> fill(test, 9)).isInstanceOf(StoreException.class);
            long last = test.log.lastId();
            test.usableBytes = 64 << 20; // nothing above the reserve

            test.log.oldSegments().roll(group);
            delete(test, last);

            assertThat(test.log.diskBytes()).isLessThan(1 << 20);
            test.usableBytes = 1 << 30;
            assertThat(test.append(group)).isEqualTo(last + 1);
        }
    }

    @Test
    void aSegmentFileThatIsDeletedUnderneathIsNoticed() throws IOException {
        try (TestLog test = new TestLog(folder)) {
            test.append("a", "b");
            test.log.checkFiles();
            Path file =
                    Objects.requireNonNull(test.log.segments().get(0).folder().file());
            byte[] content = Files.readAllBytes(file);

            Files.delete(file);

            assertThatThrownBy(test.log::checkFiles)
                    .isInstanceOfSatisfying(
                            StoreException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.PIPE_FAILED))
                    .hasMessageContaining("segment file was deleted or replaced: pipe=orders")
                    .hasMessageContaining("ids=1 to 2");
            assertThat(test.log.hasRoomFor(TestLog.bytes(1))).isFalse();
            Files.write(file, content);
        }
    }

    @Test
    void aCopyInPlaceOfTheSegmentFileIsNoticedBeforeTheNextAllocation() throws IOException {
        try (TestLog test = new TestLog(folder)) {
            test.append("a");
            Path file =
                    Objects.requireNonNull(test.log.segments().get(0).folder().file());
            Path copy = Files.copy(file, folder.resolve("copy"));
            Files.move(copy, file, java.nio.file.StandardCopyOption.REPLACE_EXISTING);

            assertThatThrownBy(() -> test.log.makeRoomFor(TestLog.bytes(1000)))
                    .hasMessageContaining("segment file was deleted or replaced");
        }
    }

    @Test
    void damageInASettledSegmentKeepsNoPipeFromDeletingItNotEvenOneThatStopsAtDamage() throws IOException {
        RetentionConfig retention = new RetentionConfig(Duration.ofSeconds(10), 0);
        try (TestLog test = new TestLog(folder, retaining(retention, OnDamage.STOP))) {
            fillAt(test, 3, 1_000);
            long last = test.log.lastId();
            long firstEnd = test.log.oldSegments().firstEnd();
            Path file = test.files().get(0);
            test.log.close();
            byte[] content = Files.readAllBytes(file);
            Arrays.fill(content, SegmentFile.BIRTH_BYTES, content.length, (byte) 0x55);
            Files.write(file, content);
            test.log = test.open(0, false);

            OldSegments.Expired expired = test.log.oldSegments().expired(last, Long.MAX_VALUE);

            assertThat(expired.upToId()).isGreaterThanOrEqualTo(firstEnd);
        }
    }

    static StoreConfig retaining(RetentionConfig retention) {
        return retaining(retention, OnDamage.SKIP);
    }

    private static StoreConfig retaining(RetentionConfig retention, OnDamage onDamage) {
        return new StoreConfig(
                1 << 20,
                1 << 20,
                0,
                0,
                0,
                Durability.PROCESS,
                CommitConfig.DEFAULT,
                FullConfig.DEFAULT,
                onDamage,
                retention);
    }

    private static void delete(TestLog test, long upToId) {
        OldSegments old = test.log.oldSegments();
        assertThat(old.release(upToId)).isEqualTo(upToId);
        old.deleteUpTo(upToId);
    }

    /** Appends until there are that many segments more. */
    private static void fill(TestLog test, int segments) {
        int most = test.log.segments().size() + segments;
        while (test.log.segments().size() < most) {
            test.append(TestLog.bytes(EVENT_BYTES));
        }
    }

    private static void fillAt(TestLog test, int segments, long millis) {
        int most = test.log.segments().size() + segments;
        EventGroup group = new EventGroup(TestLog.bytes(EVENT_BYTES).payloads(), null, millis);
        while (test.log.segments().size() < most) {
            test.append(group);
        }
        test.append(group);
        test.append(group);
    }

    private List<Path> names() {
        try (Stream<Path> all = Files.list(folder)) {
            return all.toList();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** What this process has open or mapped of this log that has no name any more, or the name of what is being deleted. */
    private List<String> openDeleted() throws IOException {
        List<String> found = new ArrayList<>();
        try (Stream<Path> handles = Files.list(Path.of("/proc/self/fd"))) {
            for (Path handle : handles.toList()) {
                if (Files.isSymbolicLink(handle)) {
                    found.add(Files.readSymbolicLink(handle).toString());
                }
            }
        } catch (java.nio.file.NoSuchFileException closedMeanwhile) {
            return List.of("look again");
        }
        found.addAll(Files.readAllLines(Path.of("/proc/self/maps")));
        return found.stream()
                .filter(line -> line.contains(folder.toString()) && line.contains("deleted"))
                .toList();
    }
}
