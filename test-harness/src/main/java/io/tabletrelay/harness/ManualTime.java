package io.tabletrelay.harness;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Time that passes when a test says so, as a clock and as a nanosecond counter.
 *
 * <p>Threading: thread-safe by one atomic counter.
 */
public final class ManualTime implements InstantSource, LongSupplier {
    private static final Instant START = Instant.parse("2026-11-30T12:00:00Z");

    private final AtomicLong passedNanos = new AtomicLong();

    /** Lets time pass. */
    public void advance(Duration duration) {
        if (duration.isNegative()) {
            throw new IllegalArgumentException("time only passes: duration=" + duration);
        }
        passedNanos.addAndGet(duration.toNanos());
    }

    @Override
    public Instant instant() {
        return START.plusNanos(passedNanos.get());
    }

    /** What {@code System.nanoTime()} would be: meaningful as a difference only. */
    @Override
    public long getAsLong() {
        return passedNanos.get();
    }
}
