package io.tabletrelay.core.metrics;

import com.codahale.metrics.Counter;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * One pipe's counters and gauges. Counting takes no lock, makes no names and allocates nothing.
 *
 * <p>Threading: thread-safe by its counters.
 */
public final class PipeMetrics {
    private static final List<MetricName> ALONE = List.of(
            MetricName.PIPE_APPENDED_EVENTS,
            MetricName.PIPE_APPENDED_BYTES,
            MetricName.PIPE_DELIVERED_EVENTS,
            MetricName.PIPE_DELIVERED_BYTES,
            MetricName.PIPE_ACKED,
            MetricName.PIPE_NACKED,
            MetricName.PIPE_TIMED_OUT,
            MetricName.PIPE_DEAD_LETTERS,
            MetricName.PIPE_DROPPED,
            MetricName.PIPE_LATE_ACKS_DROPPED,
            MetricName.PIPE_BACKLOG,
            MetricName.PIPE_IN_FLIGHT,
            MetricName.PIPE_WAITING,
            MetricName.PIPE_FLOOR,
            MetricName.PIPE_LAST_ID);

    private static final List<MetricName> OF_SUBSCRIPTION = List.of(
            MetricName.SUBSCRIPTION_BACKLOG,
            MetricName.SUBSCRIPTION_IN_FLIGHT,
            MetricName.SUBSCRIPTION_WAITING,
            MetricName.SUBSCRIPTION_FLOOR);

    private final MetricTable table;
    private final String pipe;
    private final Counter appendedEvents;
    private final Counter appendedBytes;
    private final Counter deliveredEvents;
    private final Counter deliveredBytes;
    private final Counter acked;
    private final Counter nacked;
    private final Counter timedOut;
    private final Counter deadLetters;
    private final Counter dropped;
    private final Counter lateAcksDropped;
    /** Made at the first count, since most codes and reasons never come. */
    private final Map<ErrorCode, Counter> refused = new ConcurrentHashMap<>();

    private final Map<RedeliveryReason, Counter> redelivered = new ConcurrentHashMap<>();
    private final Set<String> subscriptions = ConcurrentHashMap.newKeySet();

    PipeMetrics(MetricTable table, PipeName pipe) {
        this.table = table;
        this.pipe = pipe.value();
        this.appendedEvents = counter(MetricName.PIPE_APPENDED_EVENTS);
        this.appendedBytes = counter(MetricName.PIPE_APPENDED_BYTES);
        this.deliveredEvents = counter(MetricName.PIPE_DELIVERED_EVENTS);
        this.deliveredBytes = counter(MetricName.PIPE_DELIVERED_BYTES);
        this.acked = counter(MetricName.PIPE_ACKED);
        this.nacked = counter(MetricName.PIPE_NACKED);
        this.timedOut = counter(MetricName.PIPE_TIMED_OUT);
        this.deadLetters = counter(MetricName.PIPE_DEAD_LETTERS);
        this.dropped = counter(MetricName.PIPE_DROPPED);
        this.lateAcksDropped = counter(MetricName.PIPE_LATE_ACKS_DROPPED);
    }

    public void appended(int events, long bytes) {
        appendedEvents.inc(events);
        appendedBytes.inc(bytes);
    }

    public void refused(ErrorCode code) {
        Counter counter = refused.get(code);
        if (counter == null) {
            counter = refused.computeIfAbsent(code, c -> table.counter(refusedKey(c)));
        }
        counter.inc();
    }

    /** Redeliveries count here too. */
    public void delivered(int events, long bytes) {
        deliveredEvents.inc(events);
        deliveredBytes.inc(bytes);
    }

    public void acked(int events) {
        acked.inc(events);
    }

    public void nacked(int events) {
        nacked.inc(events);
    }

    public void timedOut(int events) {
        timedOut.inc(events);
    }

    public void redelivered(int events, RedeliveryReason reason) {
        Counter counter = redelivered.get(reason);
        if (counter == null) {
            counter = redelivered.computeIfAbsent(reason, r -> table.counter(redeliveredKey(r)));
        }
        counter.inc(events);
    }

    public void deadLettered(int events) {
        deadLetters.inc(events);
    }

    public void dropped(long events) {
        dropped.inc(events);
    }

    /** Since the relay was started. */
    public long droppedEvents() {
        return dropped.getCount();
    }

    public void lateAcksDropped(int acks) {
        lateAcksDropped.inc(acks);
    }

    /** Shows the pipe's state; a pipe that is opened again replaces what it showed before. */
    public void show(PipeGauges gauges) {
        table.gauge(key(MetricName.PIPE_BACKLOG), gauges::backlogEvents);
        table.gauge(key(MetricName.PIPE_IN_FLIGHT), gauges::inFlightEvents);
        table.gauge(key(MetricName.PIPE_WAITING), gauges::waitingEvents);
        table.gauge(key(MetricName.PIPE_FLOOR), gauges::settledFloor);
        table.gauge(key(MetricName.PIPE_LAST_ID), gauges::lastId);
    }

    /** Shows a subscription's state; one that is opened again replaces what it showed before. */
    public void show(String subscription, SubscriptionGauges gauges) {
        subscriptions.add(subscription);
        table.gauge(key(MetricName.SUBSCRIPTION_BACKLOG, subscription), gauges::backlogEvents);
        table.gauge(key(MetricName.SUBSCRIPTION_IN_FLIGHT, subscription), gauges::inFlightEvents);
        table.gauge(key(MetricName.SUBSCRIPTION_WAITING, subscription), gauges::waitingEvents);
        table.gauge(key(MetricName.SUBSCRIPTION_FLOOR, subscription), gauges::settledFloor);
    }

    /** Forgets a subscription that is no more. */
    public void removeSubscription(String subscription) {
        subscriptions.remove(subscription);
        OF_SUBSCRIPTION.forEach(name -> table.remove(key(name, subscription)));
    }

    void remove() {
        subscriptions.forEach(this::removeSubscription);
        ALONE.forEach(name -> table.remove(key(name)));
        refused.keySet().forEach(code -> table.remove(refusedKey(code)));
        redelivered.keySet().forEach(reason -> table.remove(redeliveredKey(reason)));
    }

    private MetricKey refusedKey(ErrorCode code) {
        return MetricKey.of(MetricName.PIPE_REFUSED, pipe, code.name());
    }

    private MetricKey redeliveredKey(RedeliveryReason reason) {
        return MetricKey.of(MetricName.PIPE_REDELIVERED, pipe, reason.label());
    }

    private Counter counter(MetricName name) {
        return table.counter(key(name));
    }

    private MetricKey key(MetricName name, String subscription) {
        return MetricKey.of(name, pipe, subscription);
    }

    private MetricKey key(MetricName name) {
        return MetricKey.of(name, pipe);
    }
}
