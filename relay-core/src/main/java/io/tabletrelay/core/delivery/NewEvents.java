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
    private final String subscription;
    private final PipeMetrics metrics;
    private long cursor;
    /** From the cursor up to here nothing can be read. */
    private long lostUpTo;

    /**
     * Starts above the floor.
     *
     * @param elsewhere tells events that are settled, in flight, waiting or being given up
     * @param subscription its name: what was redriven for another one is passed as settled
     */
    NewEvents(
            EventLog log,
            EventReader reader,
            SettledIds settled,
            SettledIdsGrowth growth,
            GivingUp givingUp,
            LongPredicate elsewhere,
            String subscription,
            PipeMetrics metrics) {
        this.log = log;
        this.reader = reader;
        this.settled = settled;
        this.growth = growth;
        this.givingUp = givingUp;
        this.elsewhere = elsewhere;
        this.subscription = subscription;
        this.metrics = metrics;
        this.cursor = settled.floor() + 1;
    }

    /** Returns a tailer that stands on the next event, which is {@link #taken} or asked for again; null when there is none, or not yet. */
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
                    if (!RelayHeaders.isForAnother(reader.found(), subscription)) {
                        return reader.found();
                    }
                    settled.raiseDeliveredUpTo(cursor);
                    settled.settle(cursor);
                }
                case DAMAGED -> lostUpTo = reader.found().lastId();
            }
        }
    }

    /** True: the next event, whether it can be read now or not, has a lower id than this. */
    boolean goesBefore(long id) {
        cursor = firstUndelivered(Math.max(cursor, settled.floor() + 1));
        return cursor < id && cursor <= log.lastId();
    }

    /** The event that was found is being delivered. Returns true if an earlier run had delivered it. */
    boolean taken() {
        boolean again = cursor <= settled.deliveredUpTo();
        if (again) {
            metrics.redelivered(1, RedeliveryReason.RESTART);
        }
        cursor++;
        return again;
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
