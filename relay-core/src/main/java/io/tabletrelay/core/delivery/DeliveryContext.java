package io.tabletrelay.core.delivery;

import io.tabletrelay.core.config.DeliveryConfig;
import java.time.InstantSource;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/**
 * What every subscription of a relay is given.
 *
 * <p>Threading: immutable.
 *
 * @param nanoTime time for intervals, as {@code System.nanoTime()}
 * @param clock time of day, for what is stored
 * @param random spreads retries; used by several threads
 * @param inFlight what this pipe takes of what all of them together may have in flight
 */
public record DeliveryContext(
        DeliveryConfig config,
        LongSupplier nanoTime,
        InstantSource clock,
        RandomGenerator random,
        InFlightBudget.Share inFlight) {
    private static final long MOST_IN_FLIGHT = 1_000_000;

    public DeliveryContext(DeliveryConfig config, LongSupplier nanoTime, InstantSource clock, RandomGenerator random) {
        this(config, nanoTime, clock, random, new InFlightBudget(MOST_IN_FLIGHT).share(() -> {}));
    }

    /** The same for one pipe, which has a turn by {@code wake}. */
    public DeliveryContext ofPipe(Runnable wake) {
        return new DeliveryContext(config, nanoTime, clock, random, inFlight.ofAnother(wake));
    }
}
