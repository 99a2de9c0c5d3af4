package io.tabletrelay.core.delivery;

import io.tabletrelay.core.delivery.EventPlace.Obstacle;
import io.tabletrelay.core.delivery.EventPlace.Obstacle.Kind;
import io.tabletrelay.core.store.EventLog;
import io.tabletrelay.core.store.EventTailer;
import io.tabletrelay.core.store.acks.SettledIds;
import java.util.List;
import java.util.Locale;

/**
 * Finds where an event of a subscription is.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 */
record PlaceSearch(
        EventLog log,
        SettledIds settled,
        List<Consumer> consumers,
        RedeliverySchedule schedule,
        FailedDeliveries failed,
        GivingUp givingUp,
        SettledIdsGrowth growth,
        EventReader reader,
        String subscription) {
    private static final long NANOS_A_MILLI = 1_000_000;

    /** How the subscription is at the moment. */
    record Mood(boolean stopped, boolean paused, boolean oneAtATime) {}

    EventPlace placeOf(long id, long start, Mood mood, long nowNanos) {
        if (id < 1 || id > log.lastId()) {
            return new EventPlace.Unknown(log.lastId());
        }
        if (id < start) {
            return new EventPlace.BelowStart(start);
        }
        if (id < log.firstId() && log.hasDeleted()) {
            return new EventPlace.NotKept(log.firstId());
        }
        if (log.skipVoid(id) != id) {
            return new EventPlace.NoEvent();
        }
        if (settled.isSettled(id)) {
            return new EventPlace.Settled(onlyFor(id));
        }
        for (int i = 0; i < consumers.size(); i++) {
            if (consumers.get(i).held().isInFlight(id)) {
                return inFlight(id, i, nowNanos);
            }
        }
        if (givingUp.contains(id)) {
            return new EventPlace.GivenUp(failed.failures(id), failed.lastReason(id), givingUp.trouble());
        }
        Obstacle obstacle = obstacle(id, mood);
        if (schedule.contains(id)) {
            long dueIn = Math.max(0, schedule.dueNanos(id, nowNanos) - nowNanos) / NANOS_A_MILLI;
            return new EventPlace.Waiting(dueIn, failed.failures(id), failed.lastReason(id), obstacle);
        }
        long ahead = Math.max(0, id - Math.max(settled.floor(), settled.deliveredUpTo()) - 1);
        return new EventPlace.Undelivered(ahead, onlyFor(id), obstacle);
    }

    /** The other subscription for which the event was redriven; empty: for none, or it cannot be said at once. */
    private String onlyFor(long id) {
        boolean readable = id <= log.durableId() && reader.read(id) == EventTailer.Step.EVENT;
        String of = readable && RelayHeaders.isForAnother(reader.found(), subscription)
                ? reader.found().header(RelayHeaders.SUBSCRIPTION)
                : null;
        return of == null ? "" : of;
    }

    private EventPlace inFlight(long id, int index, long nowNanos) {
        Consumer consumer = consumers.get(index);
        HeldEvents held = consumer.held();
        long sent = held.sinceNanos(id, consumer.sink());
        long deadline = held.ackTimeoutNanos() - (nowNanos - sent);
        boolean left = sent != HeldEvents.NOT_WRITTEN;
        return new EventPlace.InFlight(
                describe(index),
                failed.failures(id),
                left ? (nowNanos - sent) / NANOS_A_MILLI : -1,
                left && held.ackTimeoutNanos() > 0 ? Math.max(0, deadline) / NANOS_A_MILLI : -1);
    }

    private Obstacle obstacle(long id, Mood mood) {
        if (mood.stopped()) {
            return Obstacle.of(Kind.STOPPING);
        }
        if (mood.paused()) {
            return Obstacle.of(Kind.PAUSED);
        }
        if (consumers.isEmpty()) {
            return Obstacle.of(Kind.NO_CONSUMER);
        }
        if (!growth.trouble().isEmpty()) {
            return new Obstacle(Kind.RING_CANNOT_GROW, "", 0, 0, growth.trouble());
        }
        Obstacle first = Obstacle.of(Kind.NONE);
        for (int i = 0; i < consumers.size(); i++) {
            Obstacle each = obstacle(id, i, mood);
            if (each.kind() == Kind.NONE) {
                return each;
            }
            first = i == 0 ? each : first;
        }
        return first;
    }

    private Obstacle obstacle(long id, int index, Mood mood) {
        Consumer consumer = consumers.get(index);
        HeldEvents held = consumer.held();
        String who = describe(index);
        long lowest = schedule.lowest();
        if (!consumer.sink().writable()) {
            return new Obstacle(Kind.NOT_READING, who, 0, 0, "");
        }
        if (consumer.options().strict() && lowest > 0 && lowest < id) {
            return new Obstacle(Kind.STRICT_ORDER, who, lowest, 0, "");
        }
        if (held.windowEvents() == 0) {
            return new Obstacle(Kind.WINDOW_PAUSED, who, 0, 0, "");
        }
        if (held.taken() >= held.windowEvents()) {
            return new Obstacle(Kind.WINDOW_FULL, who, held.taken(), held.windowEvents(), "");
        }
        if (mood.oneAtATime()) {
            return new Obstacle(Kind.ONE_AT_A_TIME, who, 0, 0, "");
        }
        if (held.credit(Integer.MAX_VALUE) <= 0) {
            return new Obstacle(
                    Kind.BYTES_FULL, who, held.bytes(), consumer.options().windowBytes(), "");
        }
        return consumer.mayTake() ? Obstacle.of(Kind.NONE) : new Obstacle(Kind.QUOTA, who, 0, 0, "");
    }

    private String describe(int index) {
        Consumer consumer = consumers.get(index);
        BindOptions options = consumer.options();
        return "consumer %d of %d (%s, dialect %d, mode %s)"
                .formatted(
                        index + 1,
                        consumers.size(),
                        consumer.sink().peer(),
                        options.dialect() == BindOptions.Dialect.ONE ? 1 : 2,
                        options.mode().name().toLowerCase(Locale.ROOT));
    }
}
