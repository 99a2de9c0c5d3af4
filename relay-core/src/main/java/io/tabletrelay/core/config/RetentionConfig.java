package io.tabletrelay.core.config;

import java.time.Duration;

/**
 * How long settled events are kept. Unsettled ones are always kept.
 *
 * @param age settled events younger than this are kept; 0 = whatever their age
 * @param bytes settled events are kept while the log has no more bytes than this; 0 = whatever it has
 */
public record RetentionConfig(Duration age, long bytes) {
    /** Settled events go as soon as a whole segment has no others. */
    public static final RetentionConfig ACKED = new RetentionConfig(Duration.ZERO, 0);

    public RetentionConfig {
        if (age.isNegative() || bytes < 0) {
            throw new IllegalArgumentException("retain=" + age + ", " + bytes + " bytes must not be negative");
        }
    }

    /** True: nothing is kept because of its age or for the sake of bytes. */
    public boolean isAckedOnly() {
        return age.isZero() && bytes == 0;
    }
}
