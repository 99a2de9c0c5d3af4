package io.tabletrelay.core.delivery;

import io.tabletrelay.core.config.DeliveryConfig;
import io.tabletrelay.core.config.TransferQuotaConfig;
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
 * @param quota what the consumers of all pipes together may have
 * @param wake gives the pipe a turn; called by any thread
 */
public record DeliveryContext(
        DeliveryConfig config,
        LongSupplier nanoTime,
        InstantSource clock,
        RandomGenerator random,
        TransferQuota quota,
        Runnable wake) {

    public DeliveryContext(
            DeliveryConfig config,
            LongSupplier nanoTime,
            InstantSource clock,
            RandomGenerator random,
            TransferQuota quota) {
        this(config, nanoTime, clock, random, quota, () -> {});
    }

    /** With the default of what all of them together may have. */
    public DeliveryContext(DeliveryConfig config, LongSupplier nanoTime, InstantSource clock, RandomGenerator random) {
        this(config, nanoTime, clock, random, new TransferQuota(TransferQuotaConfig.DEFAULT));
    }

    /** The same for one pipe, which has a turn by {@code wakeOfPipe}. */
    public DeliveryContext ofPipe(Runnable wakeOfPipe) {
        return new DeliveryContext(config, nanoTime, clock, random, quota, wakeOfPipe);
    }
}
