package io.tabletrelay.core.store.log;

import org.jspecify.annotations.Nullable;

/**
 * One segment of a log: which ids it has, and the queue that they are read from.
 *
 * <p>Threading: thread-safe by volatile fields, each with one writer: ids are added by the pipe's transfer thread, bytes
 * by I/O threads.
 */
final class Segment {
    private final SegmentFolder folder;
    private final @Nullable SegmentQueue queue;
    private volatile long lastId;
    private volatile long diskBytes;
    private volatile long newestMillis;

    /** No queue: nothing in the folder can be read. */
    Segment(SegmentFolder folder, @Nullable SegmentQueue queue, long lastId, long diskBytes) {
        this.folder = folder;
        this.queue = queue;
        this.lastId = lastId;
        this.diskBytes = diskBytes;
    }

    @Nullable
    SegmentQueue queue() {
        return queue;
    }

    SegmentFolder folder() {
        return folder;
    }

    long firstId() {
        return folder.firstId();
    }

    /** The last id of an event here; {@code firstId() - 1} while there is none. */
    long lastId() {
        return lastId;
    }

    boolean contains(long id) {
        return id >= firstId() && id <= lastId;
    }

    long diskBytes() {
        return diskBytes;
    }

    void grownTo(long bytes) {
        diskBytes = bytes;
    }

    /** When its newest event was appended, ms since the epoch; 0: not known. */
    long newestMillis() {
        return newestMillis;
    }

    void newestAt(long millis) {
        newestMillis = millis;
    }

    void appendedUpTo(long id) {
        lastId = id;
    }
}
