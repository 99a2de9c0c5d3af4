package io.tabletrelay.core.config;

import io.tabletrelay.api.Durability;

/**
 * How much a pipe may store, in which pieces, and how safely.
 *
 * @param segmentBytes size at which a log goes on in a new segment file
 * @param maxEventBytes largest payload of one event
 * @param maxBytes most bytes of log files a pipe may have; 0 = unlimited
 * @param maxEvents most unsettled events a pipe may have; 0 = unlimited
 * @param diskReserveBytes free space on the file system that appends never use
 * @param durability what a confirmed event survives
 */
public record StoreConfig(
        long segmentBytes,
        int maxEventBytes,
        long maxBytes,
        long maxEvents,
        long diskReserveBytes,
        Durability durability,
        CommitConfig commit,
        FullConfig whenFull,
        OnDamage onDamage,
        RetentionConfig retention) {
    /** The least that {@link #segmentBytes} may be. */
    public static final long LEAST_SEGMENT_BYTES = 1L << 20;

    public static final StoreConfig DEFAULT = new StoreConfig(64L << 20, 4 << 20, 0, 0, 64L << 20);

    public StoreConfig {
        require("segment-bytes", segmentBytes, LEAST_SEGMENT_BYTES, 1L << 30);
        require("max-event-bytes", maxEventBytes, 1, 16L << 20);
        require("max-bytes", maxBytes, 0, Long.MAX_VALUE);
        require("max-events", maxEvents, 0, Long.MAX_VALUE);
        require("disk-reserve", diskReserveBytes, 0, Long.MAX_VALUE);
        if (maxBytes > 0 && maxBytes < 4 * segmentBytes) {
            throw new IllegalArgumentException(
                    "max-bytes=" + maxBytes + " must be at least four segments: segment-bytes=" + segmentBytes
                            + "; raise max-bytes, or lower segment-bytes where it can be set");
        }
    }

    /** With the defaults for everything that is no size. */
    public StoreConfig(long segmentBytes, int maxEventBytes, long maxBytes, long maxEvents, long diskReserveBytes) {
        this(
                segmentBytes,
                maxEventBytes,
                maxBytes,
                maxEvents,
                diskReserveBytes,
                Durability.PROCESS,
                CommitConfig.DEFAULT,
                FullConfig.DEFAULT,
                OnDamage.SKIP,
                RetentionConfig.ACKED);
    }

    /** The same for what is no reason to stop a pipe: its dead letters. */
    public StoreConfig skippingDamage() {
        return new StoreConfig(
                segmentBytes,
                maxEventBytes,
                maxBytes,
                maxEvents,
                diskReserveBytes,
                durability,
                commit,
                whenFull,
                OnDamage.SKIP,
                retention);
    }

    /** What segments a pipe has that may have so many bytes: at least four, so that it can give space back before it is full. */
    long segmentBytesWithin(long mostBytes) {
        return mostBytes == 0 ? segmentBytes : Math.max(LEAST_SEGMENT_BYTES, Math.min(segmentBytes, mostBytes / 4));
    }

    private static void require(String key, long value, long least, long most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(key + "=" + value + " must be from " + least + " to " + most);
        }
    }
}
