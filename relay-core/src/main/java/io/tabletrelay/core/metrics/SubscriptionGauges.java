package io.tabletrelay.core.metrics;

/**
 * What a subscription shows of its state.
 *
 * <p>Threading: called by any thread at any time; a value that is a moment old is good enough.
 */
public interface SubscriptionGauges {
    /** Events not yet settled. */
    long backlogEvents();

    /** Delivered, not settled. */
    long inFlightEvents();

    /** Waiting for their redelivery. */
    long waitingEvents();

    /** Highest id up to which every id is settled. */
    long settledFloor();
}
