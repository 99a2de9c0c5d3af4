package io.tabletrelay.core.pipe;

import io.tabletrelay.api.PipeName;
import io.tabletrelay.core.delivery.DiskTasks;
import io.tabletrelay.core.delivery.RetryWait;
import io.tabletrelay.core.delivery.Subscription;
import io.tabletrelay.core.store.acks.SettledIds;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * When what a subscription has settled is forced, at durability disk: soon after the first ack that is not on disk yet.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 */
final class AckCommit {
    private static final Logger LOG = LoggerFactory.getLogger(AckCommit.class);
    /** With the force itself an ack is to be on disk within 100 ms. */
    private static final long INTERVAL_NANOS = 75_000_000L;

    private final PipeName pipe;
    private final SettledIds settled;
    private final Subscription subscription;
    private final DiskTasks diskTasks;
    private final LongSupplier nanoTime;
    private boolean waiting;
    private boolean forcing;
    private long dueAtNanos;
    private final RetryWait retry = new RetryWait();
    private String trouble = "";

    AckCommit(
            PipeName pipe, SettledIds settled, Subscription subscription, DiskTasks diskTasks, LongSupplier nanoTime) {
        this.pipe = pipe;
        this.settled = settled;
        this.subscription = subscription;
        this.diskTasks = diskTasks;
        this.nanoTime = nanoTime;
    }

    /** Begins a force if it is time. */
    void turn() {
        if (forcing || !settled.wantsForce()) {
            return;
        }
        long now = nanoTime.getAsLong();
        if (!waiting) {
            waiting = true;
            dueAtNanos = now + INTERVAL_NANOS;
        } else if (now - dueAtNanos >= 0) {
            waiting = false;
            forcing = true;
            SettledIds.Force force = settled.startForce();
            subscription.forceStarts();
            diskTasks.submit(force::run, failure -> ended(force, failure));
        }
    }

    /** When the next turn is wanted though no command comes, or {@code otherwise}. */
    long nextDeadlineNanos(long otherwise) {
        return waiting ? dueAtNanos : otherwise;
    }

    /** Why acks do not reach the disk; empty if they do. */
    String trouble() {
        return trouble;
    }

    private void ended(SettledIds.Force force, @Nullable Throwable failure) {
        forcing = false;
        if (failure == null) {
            force.done();
            subscription.forceEnded(true);
            retry.wentWell();
            trouble = "";
            return;
        }
        subscription.forceEnded(false);
        if (trouble.isEmpty()) {
            LOG.error("acks do not reach the disk, trying again: pipe={}", pipe, failure);
        }
        trouble = "acks are not on disk: " + failure.getMessage();
        waiting = true;
        retry.failed(nanoTime.getAsLong());
        dueAtNanos = retry.atNanos();
    }
}
