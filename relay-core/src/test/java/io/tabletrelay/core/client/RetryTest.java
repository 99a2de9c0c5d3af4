package io.tabletrelay.core.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tabletrelay.api.ErrorCode;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RetryTest {
    private final List<Long> waitsMillis = new ArrayList<>();
    private final List<String> notices = new ArrayList<>();
    private long nowNanos;
    private int attempts;

    private final Retry retry = new Retry(
            Duration.ofSeconds(10),
            () -> nowNanos,
            millis -> {
                waitsMillis.add(millis);
                nowNanos += millis * 1_000_000;
            },
            notices::add);

    @Test
    void waitsLongerEachTimeAndSaysSoOnce() throws Exception {
        String result = retry.call(() -> {
            if (++attempts < 8) {
                throw new IOException("away");
            }
            return "here";
        });

        assertThat(result).isEqualTo("here");
        assertThat(waitsMillis).containsExactly(50L, 100L, 200L, 400L, 800L, 1600L, 2000L);
        assertThat(notices).containsExactly("away");
    }

    @Test
    void givesUpWithTheLastFailureWhenTheTimeIsUp() {
        assertThatThrownBy(() -> retry.call(() -> {
                    throw new IOException("away " + ++attempts);
                }))
                .isInstanceOf(IOException.class)
                .hasMessage("away " + (waitsMillis.size() + 1));
        assertThat(nowNanos).isBetween(10_000_000_000L, 12_000_000_000L);
    }

    @Test
    void whatTheRelayWouldRefuseAgainIsNotRepeated() {
        assertThatThrownBy(() -> retry.call(() -> {
                    throw new RefusedException(ErrorCode.BAD_EVENT, "bad", 1, 1, RefusedException.NO_SEQUENCE);
                }))
                .hasMessage("bad");
        assertThat(waitsMillis).isEmpty();
    }
}
