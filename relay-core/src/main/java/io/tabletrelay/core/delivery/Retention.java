package io.tabletrelay.core.delivery;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.EventLog;
import io.tabletrelay.core.store.OldSegments;
import io.tabletrelay.core.store.StoreException;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes segments whose events are all settled by all subscriptions: those that nothing keeps, and for a publish that finds no room the kept ones
 * too. That their events are settled is forced to disk first, so that nothing can bring them back or count them anew.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 */
public final class Retention {
    private static final Logger LOG = LoggerFactory.getLogger(Retention.class);
    private static final long LONGEST_WAIT_MILLIS = 24 * 3_600_000L;

    /** How many segments there were when some of the settled ones were kept, -1: none was; and when that changes. */
    private record Kept(int segments, long nextMillis) {}

    private final String pipe;
    private final EventLog log;
    private final OldSegments segments;
    private final AllSubscriptions subscriptions;
    private final DiskTasks diskTasks;
    private final LongSupplier nanoTime;
    private final InstantSource clock;

    private boolean deleting;
    /** With so many segments nothing was to be deleted; -1: look again. */
    private int keptCount = -1;

    private boolean keptForAge;
    private long expiresAtNanos;
    private final RetryWait retry = new RetryWait();
    /** The disk refused the last deletion. */
    private boolean refused;

    public Retention(
            String pipe, EventLog log, AllSubscriptions subscriptions, DiskTasks diskTasks, DeliveryContext context) {
        this.pipe = pipe;
        this.log = log;
        this.segments = log.oldSegments();
        this.subscriptions = subscriptions;
        this.diskTasks = diskTasks;
        this.nanoTime = context.nanoTime();
        this.clock = context.clock();
    }

    /** Deletes what is settled and kept no longer, if there is such a thing; call once a turn. */
    public void turn() {
        if (deleting || !hasWork(floor()) || isWaiting()) {
            return;
        }
        long released = segments.release(floor());
        if (!hasWork(released)) {
            return; // a reader's I/O task is under way, and a turn follows it
        }
        AtomicReference<@Nullable Kept> found = new AtomicReference<>();
        deleting = true;
        diskTasks.submit(
                () -> {
                    OldSegments.Expired expired = segments.expired(released, clock.millis());
                    delete(expired.upToId());
                    boolean keptSome = segments.firstEnd() <= released;
                    found.set(new Kept(keptSome ? segments.count() : -1, expired.nextMillis()));
                },
                failure -> ended(found.get(), failure));
    }

    /** When there will be something to do without a command, or {@code otherwise}. */
    public long nextDeadlineNanos(long otherwise) {
        if (deleting || !hasWork(floor())) {
            return otherwise;
        }
        if (refused) {
            return retry.atNanos();
        }
        return keptForAge && keptCount == segments.count() ? expiresAtNanos : otherwise;
    }

    /** True: nothing is to be deleted until kept segments may go for their age. */
    public boolean isIdle() {
        return !deleting && (!hasWork(floor()) || (!refused && isWaiting()));
    }

    /** Up to this id everything may be deleted. */
    public long floor() {
        return subscriptions.settledByAll();
    }

    /** True: settled segments take room that a publish may have. */
    public boolean canFree() {
        long floor = floor();
        boolean waits = refused && !retry.isOver(nanoTime.getAsLong());
        return !waits && (segments.firstEnd() <= floor || (log.lastId() <= floor && segments.newestHasEvents()));
    }

    /**
     * Makes room for the group by deleting settled segments, whatever keeps them; where the newest is settled too, the log goes
     * on in a new one. Nothing may be appended meanwhile.
     *
     * @param then is given why there is no room, or null
     */
    public void makeRoomFor(EventGroup group, Consumer<@Nullable Throwable> then) {
        long released = segments.release(floor());
        long last = log.lastId();
        boolean newestMayGo = last <= released;
        diskTasks.submit(
                () -> {
                    delete(segments.firstEnd() <= released ? released : 0);
                    try {
                        log.makeRoomFor(group);
                    } catch (StoreException refusal) {
                        if (!newestMayGo || !segments.newestHasEvents() || !isFull(refusal)) {
                            throw refusal;
                        }
                        segments.roll(group);
                        delete(last);
                    }
                },
                failure -> {
                    keptCount = -1;
                    then.accept(failure);
                });
    }

    static boolean isFull(StoreException refusal) {
        return refusal.code() == ErrorCode.PIPE_FULL || refusal.code() == ErrorCode.STORAGE_FULL;
    }

    /** I/O thread. */
    private void delete(long upToId) {
        if (upToId > 0) {
            subscriptions.settleBelow(upToId + 1);
        }
        segments.deleteUpTo(upToId);
    }

    /** A deletion that the disk refused is gone on with though no further segment is settled. */
    private boolean hasWork(long floor) {
        return segments.firstEnd() <= floor || refused;
    }

    private boolean isWaiting() {
        long now = nanoTime.getAsLong();
        if (refused) {
            return !retry.isOver(now);
        }
        return keptCount == segments.count() && !(keptForAge && now - expiresAtNanos >= 0);
    }

    private void ended(@Nullable Kept found, @Nullable Throwable failure) {
        deleting = false;
        if (failure instanceof StoreException refusal && isFull(refusal)) {
            retryLater(refusal);
            return;
        }
        if (failure != null) {
            throw new StoreException(
                    ErrorCode.PIPE_FAILED, "settled segments cannot be deleted: " + failure.getMessage(), failure);
        }
        refused = false;
        retry.wentWell();
        keptCount = found == null ? -1 : found.segments();
        keptForAge = found != null && found.nextMillis() != OldSegments.NONE;
        if (found != null && keptForAge) {
            long waitMillis = Math.max(1, Math.min(LONGEST_WAIT_MILLIS, found.nextMillis() - clock.millis()));
            expiresAtNanos = nanoTime.getAsLong() + waitMillis * 1_000_000;
        }
    }

    private void retryLater(StoreException refusal) {
        if (!refused) {
            LOG.warn("settled segments stay for now: pipe={}", pipe, refusal);
        }
        refused = true;
        retry.failed(nanoTime.getAsLong());
    }
}
