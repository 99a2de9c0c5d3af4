package io.tabletrelay.core.config;

import java.time.Duration;

/**
 * When appended events are forced to disk, at durability disk.
 *
 * @param interval longest that an append waits for others to be forced with it
 * @param bytes that much appended is forced without waiting longer
 */
public record CommitConfig(Duration interval, long bytes) {
    public static final CommitConfig DEFAULT = new CommitConfig(Duration.ofMillis(2), 1 << 20);

    public CommitConfig {
        if (interval.isNegative() || interval.compareTo(Duration.ofSeconds(1)) > 0) {
            throw new IllegalArgumentException(
                    "commit-interval=" + interval.toMillis() + "ms must be from 0 to 1000ms");
        }
        if (bytes < 1) {
            throw new IllegalArgumentException("commit-bytes=" + bytes + " must be at least 1");
        }
    }
}
