package io.tabletrelay.core.store.log;

import java.time.LocalDate;
import net.openhft.chronicle.core.time.TimeProvider;

/**
 * The time inside one segment, which stands still: Chronicle starts a file per day, and a segment's day is its number.
 *
 * <p>Threading: immutable.
 */
record SegmentClock(int number) implements TimeProvider {
    private static final long DAY_MILLIS = 86_400_000L;

    /** As Chronicle's daily files are called. */
    String fileName() {
        return "%tY%<tm%<tdF".formatted(LocalDate.ofEpochDay(number)) + SegmentFolder.SUFFIX;
    }

    @Override
    public long currentTimeMillis() {
        return number * DAY_MILLIS;
    }
}
