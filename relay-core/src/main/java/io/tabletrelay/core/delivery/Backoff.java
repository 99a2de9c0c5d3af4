package io.tabletrelay.core.delivery;

import io.tabletrelay.core.config.RedeliveryConfig;
import java.util.random.RandomGenerator;

/**
 * How long an event waits after a negative ack: the first wait, doubled with each failure up to the longest, ±10 %.
 *
 * <p>Threading: as its random generator.
 */
final class Backoff {
    private final long firstNanos;
    private final long maxNanos;
    private final RandomGenerator random;

    Backoff(RedeliveryConfig config, RandomGenerator random) {
        this.firstNanos = config.firstBackoff().toNanos();
        this.maxNanos = config.maxBackoff().toNanos();
        this.random = random;
    }

    /** The wait after this many failures, at least 1. */
    long nanosAfter(int failures) {
        int doublings = Math.min(failures - 1, 30);
        long nanos = firstNanos > maxNanos >> doublings ? maxNanos : firstNanos << doublings;
        return nanos + (long) (nanos * (random.nextDouble() - 0.5) / 5);
    }
}
