package io.tabletrelay.core.pipe;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.core.delivery.DiskTasks;
import io.tabletrelay.core.store.ForceFailedException;
import io.tabletrelay.core.store.StoreException;
import io.tabletrelay.core.store.acks.AttemptJournal;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings what is known of failing events to their file. On a disk that is full or refuses deliveries and acks go on: a kill meanwhile forgets
 * attempts, which costs deliveries and no event.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 */
final class AttemptsFlush {
    private static final Logger log = LoggerFactory.getLogger(AttemptsFlush.class);
    private static final long RETRY_NANOS = 1_000_000_000L;

    private final PipeName pipe;
    private final AttemptJournal attempts;
    private final DiskTasks diskTasks;
    private final LongSupplier nanoTime;
    private final Consumer<Throwable> onFailure;
    private boolean flushing;
    private boolean diskRefuses;
    private long againAtNanos;

    /** {@code onFailure} is told what no waiting will heal. */
    AttemptsFlush(
            PipeName pipe,
            AttemptJournal attempts,
            DiskTasks diskTasks,
            LongSupplier nanoTime,
            Consumer<Throwable> onFailure) {
        this.pipe = pipe;
        this.attempts = attempts;
        this.diskTasks = diskTasks;
        this.nanoTime = nanoTime;
        this.onFailure = onFailure;
    }

    /** Call once a turn. */
    void turn() {
        if (attempts.dirty() && !flushing && (!diskRefuses || nanoTime.getAsLong() - againAtNanos >= 0)) {
            flushing = true;
            diskTasks.submit(attempts::flush, this::flushed);
        }
    }

    /** True: everything is in the file. */
    boolean isIdle() {
        return !flushing && !diskRefuses && !attempts.dirty();
    }

    /** When to try again, or {@code otherwise} when nothing has to wait. */
    long retryNanos(long otherwise) {
        return diskRefuses && !flushing ? againAtNanos : otherwise;
    }

    private void flushed(@Nullable Throwable failure) {
        flushing = false;
        boolean later = failure instanceof ForceFailedException
                || (failure instanceof StoreException refusal && refusal.code() == ErrorCode.STORAGE_FULL);
        if (later && !diskRefuses) {
            log.warn("attempts cannot be written, trying again each second: pipe={}", pipe, failure);
        }
        diskRefuses = later;
        againAtNanos = nanoTime.getAsLong() + RETRY_NANOS;
        if (failure != null && !later) {
            onFailure.accept(failure);
        }
    }
}
