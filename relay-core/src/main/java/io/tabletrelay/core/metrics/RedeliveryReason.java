package io.tabletrelay.core.metrics;

import java.util.Locale;

/** Why an event is delivered once more. */
public enum RedeliveryReason {
    /** The consumer refused it. */
    NACK,
    /** The consumer did not settle it in time. */
    ACK_TIMEOUT,
    /** The consumer's connection ended, for whatever reason. */
    CONNECTION_LOST,
    /** The relay was stopped or killed while it was in flight. */
    RESTART;

    String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
