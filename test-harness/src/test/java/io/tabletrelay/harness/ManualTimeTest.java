package io.tabletrelay.harness;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class ManualTimeTest {
    @Test
    void bothClocksPassTogetherAndOnlyWhenTold() {
        ManualTime time = new ManualTime();
        Instant start = time.instant();
        assertThat(time.instant()).isEqualTo(start);

        time.advance(Duration.ofHours(1));

        assertThat(Duration.between(start, time.instant())).isEqualTo(Duration.ofHours(1));
        assertThat(time.getAsLong()).isEqualTo(Duration.ofHours(1).toNanos());
    }
}
