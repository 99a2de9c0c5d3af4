package io.tabletrelay.core.delivery;

import io.tabletrelay.core.metrics.PipeMetrics;
import io.tabletrelay.core.store.EventLog;
import io.tabletrelay.core.store.OldSegments;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives up the oldest events of a pipe, settled or not, for all subscriptions, so that newer ones have room. They are settled for ever on disk before
 * anything else forgets them.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 */
public final class DroppingOldest {
    private static final Logger LOG = LoggerFactory.getLogger(DroppingOldest.class);
    private static final long NANOS_BETWEEN_WARNINGS = 10_000_000_000L;

    private final String pipe;
    private final EventLog log;
    private final AllSubscriptions subscriptions;
    private final DiskTasks diskTasks;
    private final LongSupplier nanoTime;
    private final PipeMetrics metrics;

    /** Dropped and not yet said. */
    private long unsaidEvents;

    private long unsaidFirstId;
    private boolean said;
    private long saidAtNanos;

    public DroppingOldest(
            String pipe,
            EventLog log,
            AllSubscriptions subscriptions,
            DiskTasks diskTasks,
            LongSupplier nanoTime,
            PipeMetrics metrics) {
        this.pipe = pipe;
        this.log = log;
        this.subscriptions = subscriptions;
        this.diskTasks = diskTasks;
        this.nanoTime = nanoTime;
        this.metrics = metrics;
    }

    /** The last id of the oldest segment, and so all that dropping it takes; 0: no event is left to be dropped. */
    public long oldestSegmentEnd() {
        long first = log.oldSegments().firstEnd();
        long end = first == OldSegments.NONE ? log.lastId() : first;
        return end > subscriptions.lowestFloor() ? end : 0;
    }

    /** The id up to which this many unsettled events are. */
    public long endOfOldest(long events) {
        return subscriptions.endOfOldest(events);
    }

    /**
     * Drops everything up to this id.
     *
     * @param then is given why that could not be, or null
     */
    public void dropUpTo(long id, Consumer<@Nullable Throwable> then) {
        diskTasks.submit(() -> subscriptions.settleBelow(id + 1), failure -> {
            if (failure == null) {
                forget(id);
            }
            then.accept(failure);
        });
    }

    private void forget(long id) {
        long firstId = subscriptions.lowestFloor() + 1;
        long events = subscriptions.drop(id);
        metrics.dropped(events);
        if (unsaidEvents == 0) {
            unsaidFirstId = firstId;
        }
        unsaidEvents += events;
        long now = nanoTime.getAsLong();
        if (unsaidEvents > 0 && (!said || now - saidAtNanos >= NANOS_BETWEEN_WARNINGS)) {
            LOG.warn(
                    "pipe is full, its oldest events were dropped: pipe={}, events={}, ids={} to {}",
                    pipe,
                    unsaidEvents,
                    unsaidFirstId,
                    id);
            unsaidEvents = 0;
            said = true;
            saidAtNanos = now;
        }
    }
}
