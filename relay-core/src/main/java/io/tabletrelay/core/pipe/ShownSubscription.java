package io.tabletrelay.core.pipe;

import io.tabletrelay.core.delivery.Subscription;
import io.tabletrelay.core.metrics.SubscriptionGauges;

/**
 * What the gauges show of a subscription: as it was after the last turn in which the pipe was open.
 *
 * <p>Threading: written by the pipe's transfer thread, read by any.
 */
final class ShownSubscription implements SubscriptionGauges {
    private volatile long backlog;
    private volatile long floor;
    private volatile int inFlight;
    private volatile int waiting;

    void show(Subscription subscription) {
        backlog = subscription.backlog();
        floor = subscription.floor();
        inFlight = subscription.inFlight();
        waiting = subscription.waiting();
    }

    @Override
    public long backlogEvents() {
        return backlog;
    }

    @Override
    public long inFlightEvents() {
        return inFlight;
    }

    @Override
    public long waitingEvents() {
        return waiting;
    }

    @Override
    public long settledFloor() {
        return floor;
    }
}
