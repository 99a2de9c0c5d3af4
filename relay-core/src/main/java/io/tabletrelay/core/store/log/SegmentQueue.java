package io.tabletrelay.core.store.log;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import net.openhft.chronicle.queue.ExcerptTailer;
import net.openhft.chronicle.queue.RollCycles;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueue;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueueBuilder;
import org.jspecify.annotations.Nullable;

/**
 * One segment's Chronicle queue: open while somebody uses it. It is written by the open log that created it, and in the same
 * process by one that goes on from its orderly close; it is opened read-only ever after.
 *
 * <p>Threading: thread-safe, by its monitor and a volatile field; the appender and tailers that it makes are not.
 */
final class SegmentQueue {
    static final int INDEX_COUNT = 1024;

    /** So that the largest segment, full of the smallest events, has no more records than can be indexed. */
    static final int INDEX_SPACING = 32;

    private static final long LOCK_TIMEOUT_MILLIS = 500;

    /** Nobody is at work on a word that is unfinished in a file which nobody writes. */
    private static final long READ_TIMEOUT_MILLIS = 1;

    private final SegmentFolder folder;
    private final LogLimits limits;
    private boolean writable;
    private int users;
    private boolean structureIsSound;
    private volatile @Nullable SingleChronicleQueue queue;

    private SegmentQueue(SegmentFolder folder, LogLimits limits, boolean writable) {
        this.folder = folder;
        this.limits = limits;
        this.writable = writable;
    }

    /** A queue that is not there yet, or that this process closed in order: it is written until it is next closed. */
    static SegmentQueue toBeWritten(SegmentFolder folder, LogLimits limits) {
        return new SegmentQueue(folder, limits, true);
    }

    static SegmentQueue existing(SegmentFolder folder, LogLimits limits) {
        return new SegmentQueue(folder, limits, false);
    }

    /** Never waits for one that is being opened. */
    boolean isOpen() {
        return queue != null;
    }

    /**
     * Opens the queue if it is closed; pair it with {@link #release}. Throws if Chronicle must not see the file or does not
     * open it.
     */
    synchronized SingleChronicleQueue acquire() {
        SingleChronicleQueue open = queue;
        if (open == null) {
            open = open();
            queue = open;
        }
        users++;
        return open;
    }

    synchronized void release() {
        users--;
        if (users == 0) {
            close();
        }
    }

    /** Closes the queue under whoever uses it still. */
    synchronized void close() {
        SingleChronicleQueue open = queue;
        if (open != null) {
            open.close();
            queue = null;
            writable = false;
        }
    }

    private SingleChronicleQueue open() {
        ChronicleSettings.apply();
        if (!writable) {
            checkStructure();
            folder.deleteMetadata();
        }
        return SingleChronicleQueueBuilder.binary(folder.path())
                .rollCycle(RollCycles.FAST_DAILY)
                .timeProvider(new SegmentClock(folder.number()))
                .indexCount(INDEX_COUNT)
                .indexSpacing(INDEX_SPACING)
                .blockSize(limits.blockBytes())
                .timeoutMS(writable ? LOCK_TIMEOUT_MILLIS : READ_TIMEOUT_MILLIS)
                .readOnly(!writable)
                .build();
    }

    /** Once: what is damaged later shows when it is read, and the pipe then opens its log anew. */
    private void checkStructure() {
        if (structureIsSound) {
            return;
        }
        Path file = folder.file();
        try {
            if (file != null && !SegmentStructure.isSound(file, folder.firstId(), limits.maxRecordBytes())) {
                throw new IllegalStateException("structure is damaged: segment=" + folder.path());
            }
            structureIsSound = true;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static ExcerptTailer tailerOf(SingleChronicleQueue queue) {
        ExcerptTailer tailer = queue.createTailer();
        tailer.singleThreadedCheckDisabled(true);
        return tailer;
    }
}
