package io.tabletrelay.core.store.acks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What of the settled ids is on disk, and what may be overwritten before it is. */
class SettledIdsForceTest {
    private static final long MAX_SPREAD_IDS = 1 << 20;

    private final Path file;
    private final SettledIds ids;

    SettledIdsForceTest(@TempDir Path folder) {
        file = folder.resolve("default.settled");
        ids = SettledIds.open(file, 1, 0, MAX_SPREAD_IDS);
    }

    @BeforeEach
    void keepOnDisk() {
        ids.keepOnDisk();
    }

    private void settle(long from, long to) {
        for (long id = from; id <= to; id++) {
            ids.raiseDeliveredUpTo(id);
            ids.settle(id);
        }
    }

    private void force() {
        SettledIds.Force force = ids.startForce();
        force.run();
        force.done();
    }

    @Test
    void theDurableFloorIsTheFloorAsItWasForcedLast() {
        settle(1, 10);
        assertThat(ids.durableFloor()).isZero();
        assertThat(ids.wantsForce()).isTrue();

        force();

        assertThat(ids.durableFloor()).isEqualTo(10);
        assertThat(ids.wantsForce()).isFalse();
    }

    @Test
    void whatIsSettledWhileAForceRunsWaitsForTheNextOne() {
        settle(1, 10);
        SettledIds.Force force = ids.startForce();
        settle(11, 20);
        force.run();
        force.done();

        assertThat(ids.durableFloor()).isEqualTo(10);
        assertThat(ids.wantsForce()).isTrue();
    }

    @Test
    void noWordIsOverwrittenBeforeTheDiskKnowsThatItsIdsAreSettled() {
        long spread = ids.spreadIds();
        settle(1, spread - 1);

        assertThat(ids.floor()).isEqualTo(spread - 1);
        assertThat(ids.hasRoomFor(spread)).isFalse();
        force();
        assertThat(ids.hasRoomFor(spread)).isTrue();
    }

    /** Pages reach the disk in any order: the words of now beside the header of the last force are the worst there is. */
    @Test
    void whatWasForcedStaysSettledWhicheverPagesAPowerCutTakes() throws IOException {
        long spread = ids.spreadIds();
        settle(1, 5);
        settle(7, spread / 2);
        force();
        byte[] forced = Files.readAllBytes(file);
        ids.settle(6);
        settle(spread / 2 + 1, spread - 1);
        for (long id = spread; id < 2 * spread && ids.hasRoomFor(id); id++) {
            settle(id, id);
        }
        byte[] now = Files.readAllBytes(file);
        System.arraycopy(forced, 0, now, 0, SettledFormat.HEADER_BYTES);
        Files.write(file, now);

        SettledIds after = SettledIds.open(file, 1, 0, MAX_SPREAD_IDS);

        for (long id = 1; id <= spread / 2; id++) {
            assertThat(id == 6 || after.isSettled(id)).as("id %d", id).isTrue();
        }
    }

    @Test
    void atProcessEveryStateCountsAsDurable() {
        SettledIds process = SettledIds.open(file.resolveSibling("other"), 1, 0, MAX_SPREAD_IDS);
        process.raiseDeliveredUpTo(3);
        process.settle(1);

        assertThat(process.durableFloor()).isEqualTo(1);
        assertThat(process.wantsForce()).isFalse();
    }
}
