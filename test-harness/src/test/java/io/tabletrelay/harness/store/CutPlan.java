package io.tabletrelay.harness.store;

import java.util.List;
import java.util.Random;

/**
 * What one cut is like.
 *
 * @param moment what the power goes at
 * @param writeBack what reaches the disk just before
 * @param judgesFirst whether what the cut before took is found out first, or the power goes before that is known
 * @param delayMillis how long it runs before the moment is waited for
 * @param afterMillis how long the relay runs without a disk
 * @param windowEvents the window of its consumers
 */
record CutPlan(
        Moment moment,
        PowerSwitch.WriteBack writeBack,
        boolean judgesFirst,
        int delayMillis,
        int afterMillis,
        int windowEvents) {
    /** Windows above it have consumers that hold every second event. */
    static final int WIDE_FROM_EVENTS = 5_000;

    private static final List<Integer> WINDOWS = List.of(10, 10, 64, 1_000, 30_000);
    private static final int WIDEST = 30_000;

    static CutPlan next(Random random) {
        Moment moment = Moment.values()[random.nextInt(Moment.values().length)];
        PowerSwitch.WriteBack[] ways = PowerSwitch.WriteBack.values();
        return new CutPlan(
                moment,
                ways[random.nextInt(ways.length)],
                random.nextInt(5) > 0,
                random.nextInt(random.nextInt(4) == 0 ? 500 : 100),
                random.nextInt(40),
                moment == Moment.GROWTH ? WIDEST : WINDOWS.get(random.nextInt(WINDOWS.size())));
    }

    /** When the power goes. */
    enum Moment {
        /** At any time under load. */
        RANDOM,
        /** When a new segment shows up. */
        ROLL,
        /** When the ring of acks grows. */
        GROWTH,
        /** When pipe.json is replaced. */
        MARK,
        /** When everything is acked and nobody publishes. */
        IDLE,
        /** When the first events of new pipes are confirmed. */
        BIRTH
    }
}
