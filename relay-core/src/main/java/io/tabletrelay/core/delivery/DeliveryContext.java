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
 */
public record DeliveryContext(
        DeliveryConfig config, LongSupplier nanoTime, InstantSource clock, RandomGenerator random) {}
