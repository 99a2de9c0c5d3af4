package io.tabletrelay.core.pipe;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What must be true of one subscription, as simply as it can be said: a list of events, each in one place. It is told what is done
 * to the relay, and is asked whether what the relay does is allowed.
 *
 * <p>Threading: confined to the test's thread.
 */
final class DeliveryModel {
    static final long SECOND = 1_000_000_000L;
    static final long ACK_TIMEOUT_NANOS = 30 * SECOND;
    private static final long SLACK_NANOS = 1_000_000;

    enum Place {
        FRESH,
        HELD,
        WAITING,
        /** On its way to the dead letters. */
        DYING,
        SETTLED
    }

    /** An event and where it is. */
    static final class Event {
        final long id;
        final int bytes;
        Place place = Place.FRESH;

        @Nullable
        ModelConsumer holder;

        long deadlineNanos;
        long notBeforeNanos;
        int failures;
        boolean delivered;
        boolean terminated;
        /** Since the last restart it was not delivered. */
        boolean ofEarlierRun;
        /** When the relay was restarted it was about to be given up. */
        boolean mayBeDead;

        Event(long id, int bytes) {
            this.id = id;
            this.bytes = bytes;
        }
    }

    final List<Event> events = new ArrayList<>();
    final boolean strict;
    private final int maxDeliveries;
    private final Runnable beforeDelivery;
    long deliveredUpTo;
    boolean paused;
    long dead;

    /** @param beforeDelivery has the model told of what was dropped */
    DeliveryModel(boolean strict, int maxDeliveries, Runnable beforeDelivery) {
        this.beforeDelivery = beforeDelivery;
        this.strict = strict;
        this.maxDeliveries = maxDeliveries;
    }

    Event event(long id) {
        return events.get((int) id - 1);
    }

    long lastId() {
        return events.size();
    }

    void append(int bytes) {
        events.add(new Event(lastId() + 1, bytes));
    }

    /** The relay sends an event: everything that may not be is refused here. */
    void deliver(ModelConsumer to, long id, int delivery, long nowNanos) {
        assertThat(id).as("an id that was given").isBetween(1L, lastId());
        Event event = event(id);
        beforeDelivery.run();
        expire(nowNanos);
        assertThat(paused).as("sent while the pipe is paused: id=%d", id).isFalse();
        assertThat(event.terminated).as("terminated and sent: id=%d", id).isFalse();
        assertThat(event.place)
                .as("sent though it is settled or in flight: id=%d", id)
                .isNotIn(Place.SETTLED, Place.HELD);
        assertThat(nowNanos)
                .as("sent before it is due: id=%d", id)
                .isGreaterThanOrEqualTo(event.notBeforeNanos - SLACK_NANOS);
        assertThat(delivery == 1).as("first delivery of id=%d", id).isEqualTo(!event.delivered);
        assertThat(to.served).as("sent to who is not bound: id=%d", id).isTrue();
        List<Event> held = heldBy(to);
        assertThat(held.size()).as("window of events, id=%d", id).isLessThan(to.window);
        long bytes = held.stream().mapToLong(each -> each.bytes).sum();
        assertThat(held.isEmpty() || bytes + event.bytes <= to.windowBytes)
                .as("window of bytes, id=%d", id)
                .isTrue();
        if (strict) {
            assertThat(events.subList(0, (int) id - 1))
                    .as("earlier events that wait, id=%d", id)
                    .noneMatch(each -> each.place == Place.FRESH || each.place == Place.WAITING);
        }
        event.place = Place.HELD;
        event.holder = to;
        event.delivered = true;
        event.ofEarlierRun = false;
        event.mayBeDead = false;
        event.deadlineNanos = nowNanos + ACK_TIMEOUT_NANOS;
        deliveredUpTo = Math.max(deliveredUpTo, id);
    }

    List<Event> heldBy(ModelConsumer consumer) {
        return events.stream()
                .filter(each -> each.place == Place.HELD && each.holder == consumer)
                .toList();
    }

    void ack(long first, long last) {
        for (long id = Math.max(1, first); id <= Math.min(last, deliveredUpTo); id++) {
            settle(event(id));
        }
    }

    void ackUpTo(ModelConsumer from, long id) {
        heldBy(from).stream().filter(each -> each.id <= id).forEach(DeliveryModel::settle);
    }

    void nack(ModelConsumer from, long id, long waitNanos, long nowNanos) {
        Event event = held(from, id);
        if (event != null) {
            failed(event, nowNanos);
            long backoff = Math.min(60 * SECOND, SECOND << Math.min(20, event.failures - 1));
            event.notBeforeNanos = nowNanos + (waitNanos < 0 ? backoff * 9 / 10 : waitNanos);
        }
    }

    void terminate(ModelConsumer from, long id) {
        Event event = held(from, id);
        if (event != null) {
            event.place = Place.DYING;
            event.terminated = true;
        }
    }

    void hold(ModelConsumer from, long id, long nowNanos) {
        Event event = held(from, id);
        if (event != null) {
            event.deadlineNanos = nowNanos + ACK_TIMEOUT_NANOS;
        }
    }

    private @Nullable Event held(ModelConsumer from, long id) {
        return id <= lastId() && event(id).place == Place.HELD && event(id).holder == from ? event(id) : null;
    }

    /** The relay looks at all deadlines before it sends. */
    private void expire(long nowNanos) {
        for (Event each : events) {
            if (each.place == Place.HELD && each.deadlineNanos <= nowNanos) {
                failed(each, nowNanos);
            }
        }
    }

    private void failed(Event event, long nowNanos) {
        event.failures++;
        event.notBeforeNanos = nowNanos;
        event.place = event.failures >= maxDeliveries ? Place.DYING : Place.WAITING;
        event.holder = null;
    }

    /** What it holds goes back; an event that was alone may count as failed if the connection was lost. */
    void takenFrom(ModelConsumer consumer, boolean lost, long nowNanos) {
        List<Event> held = heldBy(consumer);
        consumer.served = false;
        for (Event each : held) {
            if (lost && held.size() == 1) {
                failed(each, nowNanos);
            } else {
                each.place = Place.WAITING;
                each.notBeforeNanos = nowNanos;
            }
        }
    }

    void restarted(long nowNanos) {
        for (Event each : events) {
            if (each.place == Place.HELD) {
                each.place = Place.WAITING;
                each.notBeforeNanos = nowNanos;
            } else if (each.place == Place.DYING) {
                each.place = Place.WAITING;
                each.mayBeDead = true;
            }
            each.terminated = false;
            each.ofEarlierRun = each.place == Place.WAITING;
        }
    }

    void reset(long start) {
        deliveredUpTo = Math.min(start - 1, lastId());
        for (int i = 0; i < events.size(); i++) {
            Event anew = new Event(i + 1, events.get(i).bytes);
            anew.place = i + 1 < start ? Place.SETTLED : Place.FRESH;
            events.set(i, anew);
        }
    }

    /** Everything up to this id was settled by the relay to make room. */
    void dropUpTo(long id) {
        for (Event each : events.subList(0, (int) id)) {
            if (each.place != Place.SETTLED) {
                settle(each);
            }
        }
        deliveredUpTo = Math.max(deliveredUpTo, id);
    }

    private static void settle(Event event) {
        event.place = Place.SETTLED;
        event.holder = null;
    }

    /** After a turn: the relay says where an event is, in the words of its states. */
    void see(long id, String word, long nowNanos) {
        Event event = event(id);
        if (event.place == Place.HELD && event.deadlineNanos <= nowNanos && !word.equals("in-flight")) {
            failed(event, nowNanos);
        }
        boolean died = word.equals("settled") && (event.place == Place.DYING || event.mayBeDead);
        if (died && event.place != Place.SETTLED) {
            settle(event);
            dead++;
        }
        List<String> allowed = switch (event.place) {
            case FRESH -> List.of("undelivered");
            case HELD -> List.of("in-flight");
            case WAITING -> event.ofEarlierRun ? List.of("waiting", "undelivered") : List.of("waiting");
            case DYING -> List.of("waiting");
            case SETTLED -> List.of("settled");
        };
        assertThat(word).as("where it is: id=%d", id).isIn(allowed);
    }

    long count(Place place) {
        return events.stream().filter(each -> each.place == place).count();
    }
}
