package io.tabletrelay.core.config;

import java.time.Duration;

/**
 * What happens when a pipe has no room.
 *
 * @param blockTimeout longest that a publish waits for room where it is to wait
 */
public record FullConfig(WhenFull policy, Duration blockTimeout) {
    public static final FullConfig DEFAULT = new FullConfig(WhenFull.REJECT, Duration.ofSeconds(30));

    public FullConfig {
        if (blockTimeout.isNegative() || blockTimeout.isZero()) {
            throw new IllegalArgumentException("block-timeout=" + blockTimeout.toMillis() + "ms must be more than 0");
        }
    }
}
