package io.tabletrelay.core.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InFlightWindowTest {
    private static final long TIMEOUT = 100;

    private final InFlightWindow window = new InFlightWindow();

    @Test
    void aSecondAckOfTheSameEventFindsNothing() {
        window.add(7, 100, 0);

        assertThat(window.remove(7)).isTrue();
        assertThat(window.remove(7)).isFalse();
        assertThat(window.size()).isZero();
    }

    @Test
    void theDeadlineStartsOnlyWhenTheLastByteReachedTheSocket() {
        window.add(1, 100, 0);
        window.lastEndsAt(500);

        window.written(499, 90);
        assertThat(window.expired(1_000, TIMEOUT)).isZero();

        window.written(500, 950);
        assertThat(window.expired(1_049, TIMEOUT)).isZero();
        assertThat(window.expired(1_050, TIMEOUT)).isEqualTo(1);
    }

    @Test
    void anUnwrittenEventIsLookedAtOnceATimeout() {
        window.add(1, 100, 0);

        assertThat(window.nextDeadlineNanos(50, TIMEOUT)).isEqualTo(100);
        assertThat(window.nextDeadlineNanos(130, TIMEOUT)).isEqualTo(230);
    }

    @Test
    void clearGivesBackTheIdsInAscendingOrder() {
        window.add(5, 100, 0);
        window.add(2, 100, 0);
        window.add(9, 100, 0);

        assertThat(window.clear()).containsExactly(2, 5, 9);
        assertThat(window.size()).isZero();
        assertThat(window.contains(5)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void behavesLikeAMapInOrderOfInsertion(long seed) {
        Random random = new Random(seed);
        Map<Long, Long> model = new LinkedHashMap<>();
        long offset = 0;

        for (int i = 0; i < 20_000; i++) {
            long id = 1 + random.nextInt(700) * (seed % 2 == 0 ? 1L : 1L << 33);
            if (model.containsKey(id) || random.nextInt(3) == 0) {
                assertThat(window.remove(id)).as("seed %d", seed).isEqualTo(model.remove(id) != null);
            } else {
                offset += 10;
                model.put(id, offset);
                window.add(id, 100, i);
                window.lastEndsAt(offset);
            }
            long oldest = model.isEmpty() ? 0 : model.keySet().iterator().next();
            window.written(offset, i);
            assertThat(window.expired(i + TIMEOUT, TIMEOUT)).as("seed %d", seed).isEqualTo(oldest);
            assertThat(window.size()).isEqualTo(model.size());
        }
        assertThat(window.clear())
                .containsExactly(model.keySet().stream()
                        .mapToLong(Long::longValue)
                        .sorted()
                        .toArray());
    }
}
