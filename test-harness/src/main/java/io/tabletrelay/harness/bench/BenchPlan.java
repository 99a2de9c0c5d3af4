package io.tabletrelay.harness.bench;

import java.time.Duration;
import java.util.List;

/**
 * How much is measured.
 *
 * @param rounds of each variant, in turn
 * @param warmUpRounds before them, not counted
 * @param eventBytes payload of one event
 * @param pushEvents of a round at full speed
 * @param durableEvents of a round in which each waits for the disk
 * @param ratesPerSecond at which latency is measured
 * @param pacedTime of a round of latency
 * @param backlogEvents to drain
 * @param idleConsumers bound at once
 * @param idleTime for which they are watched
 * @param manyPipes of which few are open
 * @param deepEvents backlog of one pipe, of which every tenth is settled
 */
record BenchPlan(
        int rounds,
        int warmUpRounds,
        int eventBytes,
        int windowEvents,
        long pushEvents,
        long durableEvents,
        List<Integer> ratesPerSecond,
        Duration pacedTime,
        long backlogEvents,
        int idleConsumers,
        Duration idleTime,
        int manyPipes,
        long deepEvents) {
    static final BenchPlan FULL = new BenchPlan(
            5,
            2,
            1_024,
            1_000,
            1_000_000,
            300_000,
            List.of(2_000, 10_000),
            Duration.ofSeconds(5),
            1_000_000,
            100,
            Duration.ofSeconds(30),
            10_000,
            10_000_000);

    /** For a first look: too short to be believed. */
    static final BenchPlan QUICK = new BenchPlan(
            3,
            1,
            1_024,
            1_000,
            200_000,
            60_000,
            List.of(2_000, 10_000),
            Duration.ofSeconds(1),
            200_000,
            100,
            Duration.ofSeconds(5),
            1_000,
            1_000_000);

    /** How many events a paced round has. */
    long pacedEvents(int ratePerSecond) {
        return ratePerSecond * pacedTime.toMillis() / 1_000;
    }

    int allRounds() {
        return rounds + warmUpRounds;
    }
}
