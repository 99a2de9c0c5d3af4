package io.tabletrelay.core.delivery;

import io.tabletrelay.core.metrics.PipeMetrics;
import io.tabletrelay.core.metrics.RedeliveryReason;
import io.tabletrelay.core.store.EventLog;
import io.tabletrelay.core.store.EventTailer;
import io.tabletrelay.core.store.acks.SettledIds;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The events that this process has not delivered yet, in id order: a cursor that goes from the floor to the log's end, past
 * what is settled or waits elsewhere. What cannot be read is given up.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 */
final class NewEvents implements AutoCloseable {
    private final EventLog log;
    private final EventReader reader;
    private final SettledIds settled;
    private final SettledIdsGrowth growth;
    private final GivingUp givingUp;
    private final LongPredicate elsewhere;
    private final PipeMetrics metrics;
    private long cursor;
    /** From the cursor up to here nothing can be read. */
    private long lostUpTo;

    /**
     * Starts above the floor.
     *
     * @param elsewhere tells events that are settled, in flight, waiting or being given up
     */
    NewEvents(
            EventLog log,
            EventReader reader,
            SettledIds settled,
            SettledIdsGrowth growth,
            GivingUp givingUp,
            LongPredicate elsewhere,
            PipeMetrics metrics) {
        this.log = log;
        this.reader = reader;
        this.settled = settled;
        this.growth = growth;
        this.givingUp = givingUp;
        this.elsewhere = elsewhere;
        this.metrics = metrics;
        this.cursor = settled.floor() + 1;
    }

    /** Goes one event further and returns a tailer that stands on it; null when there is none, or not yet. */
    @Nullable
    EventTailer next() {
        while (true) {
            cursor = firstUndelivered(Math.max(cursor, settled.floor() + 1)); // what was dropped is passed at one go
            if (cursor > log.durableId() || !growth.hasRoomFor(cursor)) {
                return null;
            }
            if (cursor <= lostUpTo) {
                if (givingUp.isFull()) {
                    return null;
                }
                settled.raiseDeliveredUpTo(cursor);
                givingUp.damaged(cursor);
                continue;
            }
            switch (reader.read(cursor)) {
                case END, OPENING -> {
                    return null;
                }
                case EVENT -> {
                    if (cursor <= settled.deliveredUpTo()) {
                        metrics.redelivered(1, RedeliveryReason.RESTART);
                    }
                    cursor++;
                    return reader.found();
                }
                case DAMAGED -> lostUpTo = reader.found().lastId();
            }
        }
    }

    /** From the cursor on there are also events that failed before a restart, which the schedule has delivered meanwhile. */
    private long firstUndelivered(long from) {
        long id = from;
        long last = log.lastId();
        while (id <= last) {
            long live = log.skipVoid(settled.firstUnsettled(id));
            if (live == id && !elsewhere.test(id)) {
                break;
            }
            id = live == id ? id + 1 : live;
        }
        return id;
    }

    @Override
    public void close() {
        reader.close();
    }
}
