package io.tabletrelay.core.store;

import net.openhft.chronicle.core.time.TimeProvider;

/**
 * The time inside one segment, which stands still: Chronicle starts a file per day, and a segment's day is its number.
 *
 * <p>Threading: immutable.
 */
record SegmentClock(int number) implements TimeProvider {
    private static final long DAY_MILLIS = 86_400_000L;

    @Override
    public long currentTimeMillis() {
        return number * DAY_MILLIS;
    }
}
