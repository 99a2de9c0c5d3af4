package io.tabletrelay.core.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RetryWaitTest {
    private static final long SECOND_NANOS = 1_000_000_000L;
    /** So that the clock wraps on the way. */
    private static final long NOW_NANOS = Long.MAX_VALUE - 1;

    private final RetryWait wait = new RetryWait();

    @Test
    void waitsDoubleUpToAMinuteAndBeginAnewOnceItWentWell() {
        List<Long> seconds = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            seconds.add(wait.failed(NOW_NANOS) / SECOND_NANOS);
        }
        wait.wentWell();
        seconds.add(wait.failed(NOW_NANOS) / SECOND_NANOS);

        assertThat(seconds).containsExactly(1L, 2L, 4L, 8L, 16L, 32L, 60L, 60L, 1L);
    }

    @Test
    void itIsOverAtItsEndAndNotBefore() {
        wait.failed(NOW_NANOS);

        long endNanos = wait.atNanos();
        assertThat(endNanos - NOW_NANOS).isEqualTo(SECOND_NANOS);
        assertThat(wait.isOver(endNanos - 1)).isFalse();
        assertThat(wait.isOver(endNanos)).isTrue();
    }
}
