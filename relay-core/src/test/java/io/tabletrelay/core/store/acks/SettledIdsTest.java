package io.tabletrelay.core.store.acks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.core.store.SmallFile;
import io.tabletrelay.core.store.StoreException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SettledIdsTest {
    private static final long MAX_SPREAD_IDS = 1 << 20;

    @TempDir
    private Path folder;

    private Path file;

    @BeforeEach
    void nameTheFile() {
        file = folder.resolve("subscriptions").resolve("default.settled");
    }

    @Test
    void theFirstUnsettledIdIsFoundBehindWholeWordsAndWithinThem() {
        SettledIds ids = open();
        ids.raiseDeliveredUpTo(500);
        for (long id = 2; id <= 400; id++) {
            if (id != 64 && id != 100) {
                ids.settle(id);
            }
        }

        assertThat(ids.firstUnsettled(0)).isEqualTo(1);
        assertThat(ids.firstUnsettled(2)).isEqualTo(64);
        assertThat(ids.firstUnsettled(64)).isEqualTo(64);
        assertThat(ids.firstUnsettled(65)).isEqualTo(100);
        assertThat(ids.firstUnsettled(101)).isEqualTo(401);
        assertThat(ids.firstUnsettled(1_000_000)).isEqualTo(1_000_000);
    }

    @Test
    void aNewFileIsOnePageAndHasNothingSettled() throws IOException {
        SettledIds ids = open();

        assertThat(file).hasSize(4096);
        assertThat(ids.floor()).isZero();
        assertThat(ids.deliveredUpTo()).isZero();
        assertThat(ids.isSettled(1)).isFalse();
        assertThat(ids.damagedFile()).isNull();
        assertThat(file.getParent()).isDirectoryNotContaining("glob:**.tmp");
    }

    @Test
    void anAckOutOfOrderWaitsForThoseBeforeIt() {
        SettledIds ids = open();
        ids.raiseDeliveredUpTo(100);

        ids.settle(3);
        ids.settle(70);

        assertThat(ids.floor()).isZero();
        assertThat(ids.settledAboveFloor()).isEqualTo(2);
        assertThat(ids.isSettled(3)).isTrue();
        assertThat(ids.isSettled(2)).isFalse();

        ids.settle(1);
        ids.settle(2);

        assertThat(ids.floor()).isEqualTo(3);
        assertThat(ids.settledAboveFloor()).isEqualTo(1);
    }

    @Test
    void aFloorThatIsNotSettledStaysWhateverIsSettledAboveIt() {
        SettledIds ids = open();
        ids.raiseDeliveredUpTo(ids.spreadIds() - 1);

        for (long id = 2; id < ids.spreadIds(); id++) {
            ids.settle(id);
        }

        assertThat(ids.floor()).isZero();
        assertThat(open().floor()).isZero();

        ids.settle(1);

        assertThat(ids.floor()).isEqualTo(ids.spreadIds() - 1);
        assertThat(ids.settledAboveFloor()).isZero();
    }

    @Test
    void aSecondAckOfAnEventSaysSo() {
        SettledIds ids = open();
        ids.raiseDeliveredUpTo(5);

        assertThat(ids.settle(4)).isTrue();
        assertThat(ids.settle(4)).isFalse();
        assertThat(ids.settle(1)).isTrue();
        assertThat(ids.settle(1)).isFalse();
    }

    @Test
    void whatWasNotDeliveredCannotBeSettled() {
        SettledIds ids = open();
        ids.raiseDeliveredUpTo(5);

        assertThatThrownBy(() -> ids.settle(6)).isInstanceOf(IllegalArgumentException.class);

        assertThat(open().isSettled(6)).isFalse();
    }

    @Test
    void everythingIsKnownAfterReopening() {
        SettledIds ids = open();
        ids.raiseDeliveredUpTo(1000);
        for (long id = 1; id <= 1000; id += 3) {
            ids.settle(id);
        }
        ids.settle(2);

        SettledIds reopened = open();

        assertThat(reopened.floor()).isEqualTo(2);
        assertThat(reopened.deliveredUpTo()).isEqualTo(1000);
        assertThat(reopened.settledAboveFloor()).isEqualTo(333);
        assertThat(reopened.isSettled(999)).isFalse();
        assertThat(reopened.isSettled(1000)).isTrue();
        assertThat(reopened.isSettled(1001)).isFalse();
    }

    @Test
    void theFloorIsFoundAgainAfterManyLaps() {
        SettledIds ids = open();
        for (long id = 1; id <= 200_000; id++) {
            ids.raiseDeliveredUpTo(id);
            ids.settle(id);
        }
        ids.raiseDeliveredUpTo(200_003);
        ids.settle(200_002);

        SettledIds reopened = open();

        assertThat(reopened.floor()).isEqualTo(200_000);
        assertThat(reopened.settledAboveFloor()).isEqualTo(1);
        assertThat(file).hasSize(4096);
    }

    @Test
    void aSubscriptionThatStartsLateHasTheRestSettled() {
        SettledIds ids = SettledIds.open(file, 5001, 9000, MAX_SPREAD_IDS);

        assertThat(ids.floor()).isEqualTo(5000);
        assertThat(ids.deliveredUpTo()).isEqualTo(5000);
        assertThat(SettledIds.open(file, 1, 9000, MAX_SPREAD_IDS).floor()).isEqualTo(5000);
    }

    @Test
    void skippedIdsAreSettledUntilTheNextOpen() {
        SettledIds ids = open();
        ids.raiseDeliveredUpTo(100);
        ids.settle(50);
        ids.settle(71);

        ids.skipTo(70);

        assertThat(ids.floor()).isEqualTo(71);
        assertThat(ids.settledAboveFloor()).isZero();
        assertThat(open().floor()).isZero();
    }

    @Test
    void droppedIdsAreSettledForEver() {
        SettledIds ids = open();
        ids.raiseDeliveredUpTo(100);
        ids.settle(1);
        ids.settle(90);

        ids.settleBelow(71);
        ids.skipTo(70);

        assertThat(ids.floor()).isEqualTo(70);
        assertThat(ids.settledAboveFloor()).isEqualTo(1);
        SettledIds reopened = open();
        assertThat(reopened.floor()).isEqualTo(70);
        assertThat(reopened.settledAboveFloor()).isEqualTo(1);
    }

    @Test
    void noIdIsDeliveredThatTheWindowCannotHold() {
        SettledIds ids = open();
        long last = ids.spreadIds() - 1;

        assertThat(ids.hasRoomFor(last)).isTrue();
        assertThat(ids.hasRoomFor(last + 1)).isFalse();
        assertThatThrownBy(() -> ids.raiseDeliveredUpTo(last + 1)).isInstanceOf(IllegalArgumentException.class);

        ids.raiseDeliveredUpTo(32);
        for (long id = 1; id < 32; id++) {
            ids.settle(id);
        }

        assertThat(ids.hasRoomFor(last + 1)).isTrue();
        assertThat(ids.hasRoomFor(last + 32)).isTrue();
        assertThat(ids.hasRoomFor(last + 33)).isFalse();
    }

    @Test
    void aGrownRingKnowsWhatTheOldOneKnew() throws IOException {
        SettledIds ids = open();
        for (long id = 1; id <= 60_000; id++) {
            ids.raiseDeliveredUpTo(id);
            ids.settle(id);
        }
        ids.raiseDeliveredUpTo(70_000);
        ids.settle(60_500);

        SettledIds.Growth growth = ids.startGrowth();
        ids.settle(60_600);
        growth.copy();
        ids.settle(60_700);
        growth.publish();
        ids.settle(60_800);
        ids.raiseDeliveredUpTo(70_001);
        growth.finish();
        ids.settle(60_900);

        for (SettledIds each : new SettledIds[] {ids, open()}) {
            assertThat(each.floor()).isEqualTo(60_000);
            assertThat(each.deliveredUpTo()).isEqualTo(70_001);
            assertThat(each.settledAboveFloor()).isEqualTo(5);
            assertThat(each.spreadIds()).isEqualTo((8192 - 128) / 8 * 32);
        }
        assertThat(file.getParent()).isDirectoryNotContaining("glob:**.tmp");
    }

    @Test
    void idsDroppedWhileTheRingGrowsStayDropped() {
        SettledIds ids = open();
        ids.raiseDeliveredUpTo(10_000);

        SettledIds.Growth growth = ids.startGrowth();
        ids.settleBelow(101);
        growth.copy();
        ids.settleBelow(201);
        growth.publish();
        ids.settleBelow(301);
        ids.skipTo(300);
        growth.finish();

        assertThat(open().floor()).isEqualTo(300);
    }

    @Test
    void aGrowthThatCannotBePublishedLeavesTheOldFileInCharge() throws IOException {
        SettledIds ids = open();
        ids.raiseDeliveredUpTo(10);
        SettledIds.Growth growth = ids.startGrowth();
        growth.copy();
        Files.delete(SmallFile.temp(file));

        assertThatThrownBy(growth::publish).isInstanceOf(StoreException.class).hasMessageContaining("path=" + file);
        growth.abandon();
        ids.settle(1);

        assertThat(open().floor()).isEqualTo(1);
        assertThat(ids.spreadIds()).isEqualTo((4096 - 128) / 8 * 32);
        SettledIds.Growth second = ids.startGrowth();
        second.copy();
        second.publish();
        second.finish();
        assertThat(open().floor()).isEqualTo(1);
        assertThat(file).hasSize(8192);
    }

    @Test
    void atTheWidestWindowGrowthIsRefusedAndAcksGoOn() {
        SettledIds ids = SettledIds.open(file, 1, 0, 32_768);
        grow(ids);
        ids.raiseDeliveredUpTo(20_000);

        assertThat(ids.canGrow()).isFalse();
        assertThatThrownBy(ids::startGrowth)
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.PIPE_FULL))
                .hasMessageContaining("max-ack-spread=32768");
        assertThat(ids.settle(1)).isTrue();
    }

    @Test
    void whatAKilledGrowthLeftIsRemoved() throws IOException {
        SettledIds ids = open();
        ids.raiseDeliveredUpTo(5);
        ids.settle(1);
        ids.startGrowth().copy();

        SettledIds reopened = open();

        assertThat(reopened.floor()).isEqualTo(1);
        assertThat(file.getParent()).isDirectoryNotContaining("glob:**.tmp");
    }

    @Test
    void aDamagedFileIsSetAsideAndEverythingIsDeliveredAgain() throws IOException {
        SettledIds ids = open();
        ids.raiseDeliveredUpTo(10);
        ids.settle(1);
        Files.write(file, new byte[100]);

        SettledIds anew = SettledIds.open(file, 1, 100_000, MAX_SPREAD_IDS);

        assertThat(anew.damagedFile()).isEqualTo(file.resolveSibling("default.settled.damaged-1"));
        assertThat(anew.damagedFile()).hasSize(100);
        assertThat(anew.floor()).isZero();
        assertThat(anew.deliveredUpTo()).isEqualTo(100_000);
        assertThat(anew.settle(99_999)).isTrue();
        SettledIds reopened = SettledIds.open(file, 1, 100_000, MAX_SPREAD_IDS);
        assertThat(reopened.floor()).isZero();
        assertThat(reopened.damagedFile()).isNull();
        assertThat(reopened.isSettled(99_999)).isTrue();
    }

    @Test
    void aDamagedFileOfAVeryWideWindowTakesAsDeliveredWhatTheWidestWindowHolds() throws IOException {
        open();
        Files.write(file, new byte[0]);

        SettledIds anew = SettledIds.open(file, 101, 1L << 40, 32_768);

        assertThat(anew.floor()).isEqualTo(100);
        assertThat(anew.deliveredUpTo()).isBetween(32_000L, 33_000L);
        assertThat(SettledIds.open(file, 1, 1L << 40, 32_768).floor()).isEqualTo(100);
    }

    private SettledIds open() {
        return SettledIds.open(file, 1, 0, MAX_SPREAD_IDS);
    }

    private static void grow(SettledIds ids) {
        SettledIds.Growth growth = ids.startGrowth();
        growth.copy();
        growth.publish();
        growth.finish();
    }
}
