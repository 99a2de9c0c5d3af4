package io.tabletrelay.core.config;

import java.time.Duration;

/**
 * How events leave a pipe.
 *
 * @param windowEvents most events a consumer may have in flight
 * @param maxAckSpread most ids between the oldest unsettled and the newest delivered event of a subscription
 * @param takeoverProbe time a consumer has to show life when another one wants its pipe
 * @param redelivery when events go again
 */
public record DeliveryConfig(int windowEvents, int maxAckSpread, Duration takeoverProbe, RedeliveryConfig redelivery) {
    public static final DeliveryConfig DEFAULT =
            new DeliveryConfig(10, 16 << 20, Duration.ofSeconds(5), RedeliveryConfig.DEFAULT);

    public DeliveryConfig {
        if (windowEvents < 1 || windowEvents > 65_536) {
            throw new IllegalArgumentException("pipe-window=" + windowEvents + " must be from 1 to 65536");
        }
        if (maxAckSpread < windowEvents) {
            throw new IllegalArgumentException(
                    "max-ack-spread=" + maxAckSpread + " must be at least pipe-window=" + windowEvents);
        }
        if (takeoverProbe.isNegative() || takeoverProbe.isZero()) {
            throw new IllegalArgumentException("takeover-probe=" + takeoverProbe + " must be more than zero");
        }
    }
}
