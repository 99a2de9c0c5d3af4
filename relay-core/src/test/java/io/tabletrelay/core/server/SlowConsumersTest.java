package io.tabletrelay.core.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.api.PipeName;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SlowConsumersTest {
    private static final PipeName PIPE = new PipeName("p");
    private static final long SECOND = 1_000_000_000L;

    private final SlowConsumers slow = new SlowConsumers();
    private long nowNanos = Long.MAX_VALUE - 100 * SECOND; // it wraps while the test goes on

    @Test
    void theWaitGrowsWithEachCutUpToFiveMinutes() {
        List<Long> seconds = new ArrayList<>();
        for (int cut = 0; cut < 10; cut++) {
            slow.cut(PIPE, "10.0.0.1", nowNanos);
            long wait = slow.refusal(PIPE, "10.0.0.1", nowNanos).waitNanos();
            seconds.add(wait / SECOND);
            nowNanos += wait;
        }

        assertThat(seconds).containsExactly(0L, 5L, 10L, 20L, 40L, 80L, 160L, 300L, 300L, 300L);
        assertThat(slow.refusal(PIPE, "10.0.0.1", nowNanos).waitNanos()).isZero();
        assertThat(slow.refusal(PIPE, "10.0.0.1", nowNanos).cuts()).isEqualTo(10);
    }

    @Test
    void othersNeedNotWait() {
        slow.cut(PIPE, "10.0.0.1", nowNanos);
        slow.cut(PIPE, "10.0.0.1", nowNanos);

        assertThat(slow.refusal(PIPE, "10.0.0.2", nowNanos).waitNanos()).isZero();
        assertThat(slow.refusal(new PipeName("q"), "10.0.0.1", nowNanos).waitNanos())
                .isZero();
        assertThat(slow.refusal(PIPE, "10.0.0.1", nowNanos).waitNanos()).isPositive();
    }

    @Test
    void cutsOfLongAgoAreForgotten() {
        slow.cut(PIPE, "10.0.0.1", nowNanos);
        slow.cut(PIPE, "10.0.0.1", nowNanos);
        nowNanos += 601 * SECOND;
        slow.cut(PIPE, "10.0.0.1", nowNanos);

        assertThat(slow.refusal(PIPE, "10.0.0.1", nowNanos)).isEqualTo(new SlowConsumers.Refusal(1, 0));
    }

    @Test
    void onlySoManyAreRemembered() {
        for (int host = 0; host <= SlowConsumers.MOST_REMEMBERED; host++) {
            slow.cut(PIPE, "host-" + host, nowNanos);
        }

        assertThat(slow.refusal(PIPE, "host-0", nowNanos).cuts()).isZero();
        assertThat(slow.refusal(PIPE, "host-1", nowNanos).cuts()).isEqualTo(1);
    }
}
