package io.tabletrelay.core.store.log;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.core.store.StoreException;
import java.io.IOException;

/**
 * How much space a segment is given ahead of its appends: 4 KiB at first, so that many small logs stay small, then as
 * much again as it has for records, up to 8 MiB.
 *
 * <p>Threading: immutable; its callers are I/O threads, but for {@link #isLow}.
 */
final class LogGrowth {
    private static final long LEAST_STEP_BYTES = 4 << 10;
    private static final long MOST_STEP_BYTES = 8 << 20;

    /** The whole pages before a segment's first record. */
    private static final long BEFORE_RECORDS_BYTES = SegmentFile.BIRTH_BYTES / (4 << 10) * (4 << 10);

    /** Chronicle's metadata and the folder, about. */
    private static final long FOLDER_BYTES = 16 << 10;

    private final LogLimits limits;
    private final DiskSpace space;

    LogGrowth(LogLimits limits, DiskSpace space) {
        this.limits = limits;
        this.space = space;
    }

    /** The same for a segment that takes the place of others, which have that many bytes and are deleted next. */
    LogGrowth inPlaceOf(long diskBytes) {
        return new LogGrowth(limits, space.inPlaceOf(diskBytes));
    }

    /** True while the segment may still grow and half of its last step is used up. */
    boolean isLow(SegmentWriter writer) {
        long reserved = writer.reservedBytes();
        return reserved < mostAhead(writer) && reserved - writer.positionBytes() < lastStep(reserved) / 2;
    }

    /** Counts what the segment's file was born with. */
    static void born(SegmentWriter writer, Segment segment) throws IOException {
        segment.folder().noteAllocated(writer.reservedBytes());
        segment.grownTo(diskBytes(writer.reservedBytes()));
    }

    /** False: no space may be taken now. */
    boolean growAhead(SegmentWriter writer, Segment segment, long logBytes) throws IOException {
        long reserved = writer.reservedBytes();
        long end = Math.min(reserved + step(reserved), mostAhead(writer));
        if (!space.allows(logBytes, end - reserved)) {
            return false;
        }
        reserve(writer, segment, end);
        return true;
    }

    /** Throws StoreException if the segment cannot have space up to that position; takes a whole step if it can. */
    void grow(SegmentWriter writer, Segment segment, long neededEnd, long logBytes) {
        long reserved = writer.reservedBytes();
        if (neededEnd <= reserved) {
            return;
        }
        long wanted = Math.min(reserved + step(reserved), limits.config().segmentBytes());
        long end = Math.max(neededEnd, space.allows(logBytes, wanted - reserved) ? wanted : 0);
        space.check(logBytes, end - reserved);
        try {
            writer.lengthenFor(end);
            reserve(writer, segment, end);
        } catch (IOException e) {
            throw full(e, end - reserved);
        }
    }

    /** Throws StoreException if no segment with that many bytes of records may be started. */
    void checkBirth(long recordBytes, long logBytes) {
        space.check(logBytes, FOLDER_BYTES + SegmentFile.BIRTH_BYTES + LEAST_STEP_BYTES + recordBytes);
    }

    /** The refusal for a file that could not be made or did not grow. */
    StoreException full(Throwable cause, long neededBytes) {
        boolean noHandle = isTooManyFiles(cause);
        return new StoreException(
                noHandle ? ErrorCode.BUSY : ErrorCode.STORAGE_FULL,
                "event refused: pipe=%s, neededBytes=%d, reason=%s; %s"
                        .formatted(
                                limits.pipe(),
                                neededBytes,
                                cause.getMessage(),
                                noHandle
                                        ? "raise the limit of open files (ulimit -n)"
                                        : "check the disk and free space on it"),
                cause);
    }

    /** True for want of file handles, however deep Chronicle has wrapped it. */
    static boolean isTooManyFiles(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (String.valueOf(cause.getMessage()).contains("Too many open files")) {
                return true;
            }
        }
        return false;
    }

    /** What a segment takes on disk whose file has that many bytes allocated. */
    static long diskBytes(long allocatedBytes) {
        return allocatedBytes + FOLDER_BYTES;
    }

    /** Noted first: a kill may leave less allocated than is counted, never more. */
    private static void reserve(SegmentWriter writer, Segment segment, long end) throws IOException {
        segment.folder().noteAllocated(end);
        try {
            writer.reserveUpTo(end);
        } finally {
            segment.grownTo(diskBytes(writer.reservedBytes()));
        }
    }

    /** The file is not made longer while Chronicle may do so itself. */
    private long mostAhead(SegmentWriter writer) {
        return Math.min(limits.config().segmentBytes(), writer.fileBytes());
    }

    private static long step(long reserved) {
        return within(reserved - BEFORE_RECORDS_BYTES);
    }

    private static long lastStep(long reserved) {
        return within((reserved - BEFORE_RECORDS_BYTES) / 2);
    }

    private static long within(long stepBytes) {
        return Math.min(MOST_STEP_BYTES, Math.max(LEAST_STEP_BYTES, stepBytes));
    }
}
