package io.tabletrelay.core.delivery;

import io.tabletrelay.core.store.acks.SettledIds;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Makes a subscription's ring of settled ids larger when the spread between its oldest unsettled and its newest delivered event
 * wants it. Acks go on meanwhile; new deliveries wait.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 */
final class SettledIdsGrowth {
    private static final long RETRY_NANOS = 1_000_000_000L;

    private final SettledIds settled;
    private final DiskTasks diskTasks;
    private final LongSupplier nanoTime;
    private boolean growing;
    private String trouble = "";
    private long retryAtNanos;

    SettledIdsGrowth(SettledIds settled, DiskTasks diskTasks, LongSupplier nanoTime) {
        this.settled = settled;
        this.diskTasks = diskTasks;
        this.nanoTime = nanoTime;
    }

    /** True if this id may be delivered; otherwise the ring grows until it may. */
    boolean hasRoomFor(long id) {
        if (settled.hasRoomFor(id)) {
            trouble = "";
            return true;
        }
        if (!growing && (trouble.isEmpty() || nanoTime.getAsLong() - retryAtNanos >= 0)) {
            growing = true;
            allocate();
        }
        return false;
    }

    /** Why the ring cannot grow; empty if it can. */
    String trouble() {
        return trouble;
    }

    /** When to try again, or {@code otherwise} when nothing has to wait. */
    long retryNanos(long otherwise) {
        return trouble.isEmpty() || growing ? otherwise : retryAtNanos;
    }

    private void allocate() {
        AtomicReference<SettledIds.Growth> started = new AtomicReference<>();
        diskTasks.submit(() -> started.set(settled.startGrowth()), failure -> {
            SettledIds.Growth growth = started.get();
            if (growth == null) {
                ended(failure);
            } else {
                growth.copy();
                publish(growth);
            }
        });
    }

    private void publish(SettledIds.Growth growth) {
        diskTasks.submit(growth::publish, failure -> {
            if (failure == null) {
                growth.finish();
            } else {
                growth.abandon();
            }
            ended(failure);
        });
    }

    private void ended(@Nullable Throwable failure) {
        growing = false;
        trouble = failure == null ? "" : "no further deliveries until some are settled: " + failure.getMessage();
        retryAtNanos = nanoTime.getAsLong() + RETRY_NANOS;
    }
}
