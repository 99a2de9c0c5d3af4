package io.tabletrelay.core.pipe;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.FullConfig;
import io.tabletrelay.core.config.WhenFull;
import io.tabletrelay.core.delivery.DroppingOldest;
import io.tabletrelay.core.delivery.Retention;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.OldSegments;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What becomes of publishes that find no room: settled events are deleted for them, and then they are refused, wait, or have
 * the oldest events dropped for them.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 */
final class FullPipe {
    private static final long RETRY_NANOS = 1_000_000_000L;

    /** What happens to a publish that found no room. */
    enum Verdict {
        /** An I/O task is at work for it, which answers. */
        WORKING,
        /** It stays where it is, and so do those behind it. */
        WAITS,
        REFUSED
    }

    private final FullConfig config;
    private final OldSegments segments;
    private final Retention retention;
    private final DroppingOldest dropping;
    private final LongSupplier nanoTime;

    /** Why the first publish waits; null while none does. */
    private @Nullable RelayException waitsFor;

    private boolean waitsForSpace;
    private int segmentsThen;
    private long floorThen;
    private long retryAtNanos;

    FullPipe(
            FullConfig config,
            OldSegments segments,
            Retention retention,
            DroppingOldest dropping,
            LongSupplier nanoTime) {
        this.config = config;
        this.segments = segments;
        this.retention = retention;
        this.dropping = dropping;
        this.nanoTime = nanoTime;
    }

    /**
     * The log has no room for the group.
     *
     * @param freed is given what came of deleting settled events: why there is no room still, or null
     */
    Verdict noRoomFor(EventGroup group, RelayException why, Consumer<@Nullable Throwable> freed) {
        if (retention.canFree()) {
            retention.makeRoomFor(group, freed);
            return Verdict.WORKING;
        }
        return stillNoRoom(why, freed);
    }

    /** The same once settled events were deleted. Events are dropped only where that is sure to help: at the pipe's limit. */
    Verdict stillNoRoom(RelayException why, Consumer<@Nullable Throwable> dropped) {
        boolean drops = config.policy() == WhenFull.DROP_OLDEST && why.code() == ErrorCode.PIPE_FULL;
        long oldestEnd = drops ? dropping.oldestSegmentEnd() : 0;
        if (oldestEnd > 0) {
            dropping.dropUpTo(oldestEnd, dropped);
            return Verdict.WORKING;
        }
        waitsForSpace = true;
        segmentsThen = segments.count();
        floorThen = retention.floor();
        retryAtNanos = nanoTime.getAsLong() + RETRY_NANOS;
        return waitOrRefuse(why);
    }

    /** There would be so many more unsettled events than there may be. */
    Verdict tooManyEvents(long tooMany, RelayException why, Consumer<@Nullable Throwable> dropped) {
        if (config.policy() == WhenFull.DROP_OLDEST) {
            dropping.dropUpTo(dropping.endOfOldest(tooMany), dropped);
            return Verdict.WORKING;
        }
        waitsForSpace = false;
        return waitOrRefuse(why);
    }

    private Verdict waitOrRefuse(RelayException why) {
        boolean waits = config.policy() == WhenFull.BLOCK;
        waitsFor = waits ? why : null;
        return waits ? Verdict.WAITS : Verdict.REFUSED;
    }

    /** True while it would be in vain to try the first publish again. Unsettled events are counted anew each turn. */
    boolean holdsBack() {
        boolean freed = (retention.floor() != floorThen && retention.canFree()) || segments.count() != segmentsThen;
        return waitsFor != null && waitsForSpace && !freed && nanoTime.getAsLong() - retryAtNanos < 0;
    }

    /** Nobody waits for room any more. */
    void roomIsThere() {
        waitsFor = null;
    }

    /** Why this publish is refused at last, since it has waited as long as it may; or null. */
    @Nullable
    RelayException overdue(WaitingAppend first) {
        RelayException why = waitsFor;
        long waitedNanos = nanoTime.getAsLong() - first.sinceNanos();
        return why == null || waitedNanos < config.blockTimeout().toNanos()
                ? null
                : new RelayException(why.code(), why.reason() + "; waited " + waitedNanos / 1_000_000 + " ms for room");
    }

    /** When to look at the first publish again, or {@code otherwise}. */
    long nextDeadlineNanos(WaitingAppend first, long otherwise) {
        if (waitsFor == null) {
            return otherwise;
        }
        long overdueAtNanos = first.sinceNanos() + config.blockTimeout().toNanos();
        return waitsForSpace && retryAtNanos - overdueAtNanos < 0 ? retryAtNanos : overdueAtNanos;
    }
}
