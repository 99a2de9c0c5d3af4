package io.tabletrelay.core.store.acks;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.BitSet;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Random operations on the ring and on a plain bit set, with kills (a fresh open of the same file) at any step of a growth. */
class SettledIdsModelTest {
    private static final int OPERATIONS = 250_000;
    private static final long MAX_SPREAD_IDS = 1 << 17;

    @TempDir
    private Path folder;

    private Path file;
    private SettledIds ids;
    private final Random random = new Random();
    private final BitSet settled = new BitSet();
    private final BitSet voidIds = new BitSet();
    private int delivered;
    private int pinnedUntil;
    private SettledIds.@Nullable Growth growth;
    private int growthStep;
    private int growths;
    private int opens;

    @BeforeEach
    void openTheFile() {
        file = folder.resolve("model.settled");
        ids = SettledIds.open(file, 1, 0, MAX_SPREAD_IDS);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void theRingAgreesWithAPlainSetOfIds(long seed) {
        random.setSeed(seed);
        settled.set(0);
        chooseVoidIds();
        passVoidIds();

        for (int i = 0; i < OPERATIONS; i++) {
            step(i);
            if (i % 500 == 0) {
                compare("seed=" + seed + ", operation=" + i);
            }
        }

        compare("seed=" + seed);
        assertThat(growths).isPositive();
        assertThat(opens).isGreaterThan(20);
    }

    private void step(int operation) {
        int choice = random.nextInt(10_000);
        if (choice < 4_600) {
            deliver();
        } else if (choice < 9_950) {
            settle(operation);
        } else if (choice < 9_990) {
            stepGrowth();
        } else if (choice < 9_993) {
            drop();
        } else if (choice < 9_996) {
            open();
        } else {
            pinnedUntil = operation + random.nextInt(60_000);
        }
        passVoidIds();
    }

    private void chooseVoidIds() {
        for (int id = 1; id < OPERATIONS; id += 1 + random.nextInt(3000)) {
            voidIds.set(id, id + random.nextInt(50));
        }
    }

    private void deliver() {
        int next = voidIds.nextClearBit(delivered + 1);
        if (ids.hasRoomFor(next)) {
            ids.raiseDeliveredUpTo(next);
            delivered = next;
        }
    }

    private void settle(int operation) {
        int lowest = (int) ids.floor() + 1;
        if (lowest > delivered) {
            return;
        }
        boolean pinned = operation < pinnedUntil;
        int reach = random.nextInt(4) == 0 ? delivered - lowest + 1 : Math.min(delivered - lowest + 1, 100);
        int id = random.nextInt(5) == 0 && !pinned ? lowest : lowest + random.nextInt(reach);
        if (voidIds.get(id) || (pinned && id == lowest)) {
            return;
        }

        assertThat(ids.settle(id)).isEqualTo(!settled.get(id));

        settled.set(id);
    }

    private void drop() {
        int upTo = (int) ids.floor() + random.nextInt(200);
        ids.settleBelow(upTo + 1);
        ids.skipTo(upTo);
        settled.set(0, upTo + 1);
        delivered = Math.max(delivered, upTo);
        ids.raiseDeliveredUpTo(delivered);
    }

    private void stepGrowth() {
        if (growth == null) {
            growth = ids.canGrow() ? ids.startGrowth() : null;
            growthStep = 0;
            return;
        }
        switch (growthStep++) {
            case 0 -> growth.copy();
            case 1 -> growth.publish();
            default -> {
                growth.finish();
                growth = null;
                growths++;
            }
        }
    }

    private void open() {
        ids = SettledIds.open(file, 1, 0, MAX_SPREAD_IDS);
        growth = null;
        opens++;
        passVoidIds();
        compare("open=" + opens);
    }

    /** As the owner of the log does: at the floor void ids are passed over. */
    private void passVoidIds() {
        int next = (int) ids.floor() + 1;
        while (voidIds.get(next)) {
            int end = voidIds.nextClearBit(next) - 1;
            ids.skipTo(end);
            settled.set(next, end + 1);
            next = (int) ids.floor() + 1;
        }
    }

    private void compare(String when) {
        int floor = settled.nextClearBit(0) - 1;
        BitSet above = settled.get(floor + 1, Math.max(floor + 1, settled.length()));
        assertThat(ids.damagedFile()).isNull();
        assertThat(ids.floor()).as(when).isEqualTo(floor);
        assertThat(ids.settledAboveFloor()).as(when).isEqualTo(above.cardinality());
        assertThat(ids.deliveredUpTo()).as(when).isEqualTo(delivered);
        for (int id = Math.max(0, floor - 70); id < delivered + 70; id++) {
            if (ids.isSettled(id) != settled.get(id)) {
                throw new AssertionError(when + ", id=" + id + ", settled=" + settled.get(id) + ", floor=" + floor);
            }
        }
    }
}
