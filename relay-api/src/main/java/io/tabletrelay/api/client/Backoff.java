package io.tabletrelay.api.client;

import java.time.Duration;
import java.util.function.LongUnaryOperator;

/**
 * How long to wait before the next try: a random time up to 100 ms, doubled with each failure up to 10 s.
 *
 * <p>Threading: confined to the client's loop.
 */
final class Backoff {
    private static final long FIRST_MILLIS = 100;
    private static final long LONGEST_MILLIS = 10_000;
    private static final long PATIENCE_MILLIS = 1_000;

    private final LongUnaryOperator randomUpTo;
    private long ceilingMillis = FIRST_MILLIS;

    /** @param randomUpTo a random number from 0 up to its argument */
    Backoff(LongUnaryOperator randomUpTo) {
        this.randomUpTo = randomUpTo;
    }

    Duration next() {
        long millis = randomUpTo.applyAsLong(ceilingMillis);
        ceilingMillis = Math.min(LONGEST_MILLIS, 2 * ceilingMillis);
        return Duration.ofMillis(millis);
    }

    /** For who was told to come later: not before a second is over. */
    Duration later() {
        ceilingMillis = Math.max(ceilingMillis, PATIENCE_MILLIS);
        return next().plusMillis(PATIENCE_MILLIS);
    }

    void reset() {
        ceilingMillis = FIRST_MILLIS;
    }
}
