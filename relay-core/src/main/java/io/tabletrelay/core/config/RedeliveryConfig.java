package io.tabletrelay.core.config;

import java.time.Duration;

/**
 * When an event that was delivered and not settled is sent again, and when the relay gives up on it.
 *
 * @param ackTimeout time a consumer of dialect 1 has to settle a delivery, from when its last byte reached the socket; zero =
 *     never ends
 * @param extendableAckTimeout the same for a consumer of dialect 2, which can ask for more
 * @param firstBackoff wait after the first negative ack, doubled with each further one
 * @param maxBackoff longest such wait
 * @param maxDeliveries failed deliveries (negative ack or timeout) before the event becomes a dead letter; 0 = unlimited
 */
public record RedeliveryConfig(
        Duration ackTimeout,
        Duration extendableAckTimeout,
        Duration firstBackoff,
        Duration maxBackoff,
        int maxDeliveries) {
    public static final RedeliveryConfig DEFAULT = new RedeliveryConfig(
            Duration.ofMinutes(5), Duration.ofSeconds(30), Duration.ofSeconds(1), Duration.ofSeconds(60), 20);

    public RedeliveryConfig {
        if (extendableAckTimeout.isNegative()) {
            throw new IllegalArgumentException(
                    "redelivery.extendable-ack-timeout=" + extendableAckTimeout + " must not be negative");
        }
        if (ackTimeout.isNegative()) {
            throw new IllegalArgumentException("redelivery.ack-timeout=" + ackTimeout + " must not be negative");
        }
        if (firstBackoff.isNegative() || firstBackoff.isZero() || maxBackoff.compareTo(firstBackoff) < 0) {
            throw new IllegalArgumentException("redelivery.first-backoff=" + firstBackoff
                    + " must be more than zero and at" + " most redelivery.max-backoff=" + maxBackoff);
        }
        if (maxDeliveries < 0) {
            throw new IllegalArgumentException("redelivery.max-deliveries=" + maxDeliveries + " must not be negative");
        }
    }
}
