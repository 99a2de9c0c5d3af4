package io.tabletrelay.core.store.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tabletrelay.api.Durability;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.core.config.CommitConfig;
import io.tabletrelay.core.config.FullConfig;
import io.tabletrelay.core.config.OnDamage;
import io.tabletrelay.core.config.RetentionConfig;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.store.ForceFailedException;
import io.tabletrelay.core.store.IdRange;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A log at durability disk, on a disk whose forces are counted and made to fail. */
class ForcedLogTest {
    private static final StoreConfig DISK = new StoreConfig(
            1 << 20,
            4 << 20,
            0,
            0,
            0,
            Durability.DISK,
            CommitConfig.DEFAULT,
            FullConfig.DEFAULT,
            OnDamage.SKIP,
            RetentionConfig.ACKED);

    @TempDir
    private Path folder;

    private Path events() {
        return folder.resolve("events");
    }

    private TestLog open() {
        return new TestLog(events(), DISK);
    }

    /** Opens the same files again, as after a kill: whoever had them open closes nothing. */
    private TestLog afterKill(TestLog killed) {
        return new TestLog(events(), DISK, killed.mark);
    }

    private static void failForce(TestLog log) {
        log.disk.failsAfter = 0;
        assertThatThrownBy(log.log::force).isInstanceOf(ForceFailedException.class);
        log.disk.failsAfter = -1;
    }

    private static ProducerSequence sequence(long number) {
        return new ProducerSequence("p", number);
    }

    private static SegmentHeader header(TestLog log, int segment) throws IOException {
        return Objects.requireNonNull(log.log.segments().get(segment).folder().header());
    }

    private static String name(Path path) {
        return String.valueOf(path.getFileName());
    }

    private static Path note(TestLog log) {
        return log.log.segments().get(0).folder().path().resolve("covered");
    }

    @Test
    void atProcessNothingIsForcedAndEverythingIsDurableAtOnce() {
        try (TestLog log = new TestLog(events())) {
            log.append("a");
            log.log.force();

            assertThat(log.log.durableId()).isEqualTo(1);
            assertThat(log.disk.forces).isEmpty();
        }
    }

    @Test
    void nothingIsReadBeforeAForceCoversIt() {
        try (TestLog log = open()) {
            log.append("a");

            assertThat(log.log.durableId()).isZero();
            assertThat(log.readAll().events()).isEmpty();

            log.log.force();

            assertThat(log.log.durableId()).isEqualTo(1);
            assertThat(log.readAll().events()).isEqualTo(Map.of(1L, "a"));
        }
    }

    @Test
    void aSegmentIsOnDiskWithAllNamesThatLeadToItBeforeAnythingIsAppended() {
        try (TestLog log = open()) {
            log.log.makeRoomFor(TestLog.group(null, "a"));

            Path segment = log.log.segments().get(0).folder().path();
            assertThat(log.disk.forces).containsExactly("file+", name(segment), "events", name(folder));
        }
    }

    @Test
    void oneForceCoversAllThatWasAppendedBeforeIt() {
        try (TestLog log = open()) {
            log.append("a");
            log.disk.forces.clear();
            for (int i = 0; i < 99; i++) {
                log.append("more");
            }

            log.log.force();
            log.log.force();

            assertThat(log.log.durableId()).isEqualTo(100);
            assertThat(log.disk.forces).containsExactly("file");
        }
    }

    @Test
    void theOldSegmentIsForcedBeforeTheNextOneIsBorn() throws IOException {
        try (TestLog log = open()) {
            log.append(TestLog.bytes(700_000));
            log.disk.forces.clear();

            log.append(TestLog.bytes(700_000));

            assertThat(log.log.segments()).hasSize(2);
            assertThat(log.disk.forces.subList(0, 2)).containsExactly("file", "file+");
            assertThat(log.log.durableId()).isEqualTo(1);
            assertThat(header(log, 1).forcedId()).isEqualTo(1);
        }
    }

    @Test
    void whatAFailedForceDidNotCoverIsVoidForEver() throws IOException {
        try (TestLog log = open()) {
            log.append("a");
            log.log.force();
            log.append("b");
            log.append("c");

            failForce(log);

            assertThat(log.log.hasRoomFor(TestLog.group(null, "x"))).isFalse();
            assertThat(log.log.voidUncovered()).isEqualTo(new IdRange(2, 3));
            assertThat(log.log.voidIds()).isEqualTo(2);
            assertThat(log.log.skipVoid(2)).isEqualTo(4);
            assertThat(log.append("d")).isEqualTo(4);
            log.log.force();
            assertThat(log.readAll().events()).isEqualTo(Map.of(1L, "a", 4L, "d"));
            assertThat(header(log, 1).lastValidId()).isEqualTo(1);
            assertThat(header(log, 1).forcedId()).isEqualTo(1);
            log.reopen();
            assertThat(log.readAll().events()).isEqualTo(Map.of(1L, "a", 4L, "d"));
            assertThat(log.log.voidIds()).isEqualTo(2);
        }
    }

    @Test
    void aFailedForceIsNeverMadeAgain() {
        try (TestLog log = open()) {
            log.append("a");
            failForce(log);
            log.disk.forces.clear();

            assertThatThrownBy(log.log::force).isInstanceOf(ForceFailedException.class);

            assertThat(log.disk.forces).isEmpty();
            assertThat(log.log.durableId()).isZero();
        }
    }

    @Test
    void sequencesGoBackToWhatIsCovered() {
        try (TestLog log = open()) {
            log.append(TestLog.group(sequence(1), "a"));
            log.log.force();
            log.append(TestLog.group(sequence(2), "b"));
            log.append(TestLog.group(sequence(3), "c"));
            log.append(TestLog.group(new ProducerSequence("new", 1), "d"));

            failForce(log);
            log.log.voidUncovered();

            assertThat(log.log.lastSequence("p")).isEqualTo(1);
            assertThat(log.log.lastSequence("new")).isZero();
            assertThat(log.log.idsOf(sequence(1))).isEqualTo(new IdRange(1, 1));
            assertThat(log.log.idsOf(sequence(2))).isNull();
            assertThat(log.log.findIdsOf(sequence(2))).isNull();
            assertThat(log.append(TestLog.group(sequence(2), "b"))).isEqualTo(5);
            assertThat(log.log.findIdsOf(sequence(2))).isEqualTo(new IdRange(5, 5));
        }
    }

    @Test
    void aKillBetweenAFailedForceAndTheNextSegmentBringsNothingBack() {
        TestLog killed = open();
        killed.append(TestLog.group(sequence(1), "a"));
        killed.log.force();
        killed.append(TestLog.group(sequence(2), "b"));
        failForce(killed);
        killed.log.voidUncovered();

        try (TestLog log = afterKill(killed)) {
            log.log.force();

            assertThat(log.readAll().events()).isEqualTo(Map.of(1L, "a"));
            assertThat(log.log.lastSequence("p")).isEqualTo(1);
            assertThat(log.append("c")).isGreaterThan(2);
        }
    }

    @Test
    void aCloseBehindAFailedForceBringsNothingBack() {
        try (TestLog log = open()) {
            log.append("a");
            log.log.force();
            log.append("b");
            failForce(log);
            log.log.voidUncovered();

            log.reopen();

            assertThat(log.readAll().events()).isEqualTo(Map.of(1L, "a"));
            assertThat(log.log.voidIds()).isPositive();
        }
    }

    @Test
    void afterAKillEverythingIsWrittenAndForcedAgainBeforeItIsRead() throws IOException {
        TestLog killed = open();
        killed.append("a", "b");
        killed.log.force();
        byte[] before = Files.readAllBytes(killed.files().get(0));

        try (TestLog log = afterKill(killed)) {
            assertThat(log.log.durableId()).isZero();
            assertThat(log.log.lastId()).isEqualTo(2);
            assertThat(log.readAll().events()).isEmpty();

            log.log.force();

            assertThat(log.disk.forces).contains("file+", "events");
            assertThat(log.readAll().events()).isEqualTo(Map.of(1L, "a", 2L, "b"));
            assertThat(Files.readAllBytes(log.files().get(0))).isEqualTo(before);
        }
    }

    @Test
    void whatWasFoundStaysUncoveredWhileItsForceFailsAndIsNotVoid() {
        TestLog killed = open();
        killed.append("a");
        killed.log.force();

        try (TestLog log = afterKill(killed)) {
            failForce(log);

            assertThat(log.log.voidUncovered()).isNull();
            assertThat(log.log.durableId()).isZero();
            log.disk.failsAfter = 0;
            assertThatThrownBy(() -> log.append("b")).isInstanceOf(ForceFailedException.class);
            log.disk.failsAfter = -1;
            assertThat(log.append("b")).isEqualTo(2);
            log.log.force();
            assertThat(log.readAll().events()).isEqualTo(Map.of(1L, "a", 2L, "b"));
        }
    }

    @Test
    void afterACleanCloseNothingIsForcedAgain() {
        try (TestLog log = open()) {
            log.append("a");
            log.append("b");

            log.reopen();
            log.disk.forces.clear();

            assertThat(log.log.durableId()).isEqualTo(2);
            log.log.force();
            assertThat(log.disk.forces).isEmpty();
        }
    }

    @Test
    void aDamagedNoteOfACleanCloseOnlyCostsAnotherForce() throws IOException {
        try (TestLog log = open()) {
            log.append("a");
            log.reopen();
            byte[] note = Files.readAllBytes(note(log));
            for (int at = 0; at < note.length; at++) {
                note[at] ^= 0x10;
                Files.write(note(log), note);
                note[at] ^= 0x10;

                log.log.close();
                log.log = log.open(0, false);

                assertThat(log.log.durableId()).as("byte %d", at).isZero();
                log.log.force();
                assertThat(log.readAll().events()).isEqualTo(Map.of(1L, "a"));
            }
        }
    }

    @Test
    void whatWasStoredAtProcessIsNotTakenForForced() {
        try (TestLog log = new TestLog(events())) {
            log.append(TestLog.bytes(700_000));
            log.append(TestLog.bytes(700_000));
            log.config = DISK;

            log.reopen();

            assertThat(log.log.segments()).hasSize(2);
            assertThat(log.log.durableId()).isZero();
            log.log.force();
            assertThat(log.log.durableId()).isEqualTo(2);
            assertThat(log.disk.forces.stream().filter("file+"::equals)).hasSize(2);
        }
    }

    @Test
    void aBirthThatCannotBeForcedLeavesNothingAndIsTriedAgain() {
        try (TestLog log = open()) {
            for (int forces = 0; forces < 4; forces++) {
                log.disk.failsAfter = forces;

                assertThatThrownBy(() -> log.append("a"))
                        .isInstanceOfSatisfying(
                                ForceFailedException.class,
                                e -> assertThat(e.code()).isEqualTo(ErrorCode.PIPE_FAILED))
                        .hasMessageContaining("Input/output error");
                assertThat(log.log.segments()).isEmpty();
            }
            log.disk.failsAfter = -1;

            assertThat(log.append("a")).isEqualTo(1);
            log.log.force();
            assertThat(log.readAll().events()).isEqualTo(Map.of(1L, "a"));
        }
    }

    @Test
    void aRollWhoseForceFailsVoidsWhatTheOldSegmentHadUncovered() {
        try (TestLog log = open()) {
            log.append("a");
            log.log.force();
            log.append(TestLog.bytes(700_000));
            log.disk.failsAfter = 0;

            assertThatThrownBy(() -> log.append(TestLog.bytes(700_000))).isInstanceOf(ForceFailedException.class);

            assertThat(log.log.voidUncovered()).isEqualTo(new IdRange(2, 2));
            log.disk.failsAfter = -1;
            assertThat(log.append("c")).isEqualTo(3);
            log.log.force();
            assertThat(List.copyOf(log.readAll().events().keySet())).containsExactly(1L, 3L);
        }
    }
}
