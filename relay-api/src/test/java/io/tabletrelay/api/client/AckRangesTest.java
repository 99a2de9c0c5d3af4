package io.tabletrelay.api.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AckRangesTest {
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void linesNameExactlyTheIdsThatWereAdded(long seed) {
        Random random = new Random(seed);
        AckRanges acks = new AckRanges(1_000_000);
        TreeSet<Long> expected = new TreeSet<>();
        for (int i = 0; i < 3_000; i++) {
            long id = 1L + random.nextInt(5_000);
            acks.add(id);
            expected.add(id);
        }

        assertThat(ids(acks)).isEqualTo(expected);
        assertThat(acks.isEmpty()).isTrue();
        acks.lost();
        assertThat(ids(acks)).isEqualTo(expected);
    }

    private static Set<Long> ids(AckRanges acks) {
        TreeSet<Long> ids = new TreeSet<>();
        for (String line = acks.line(); line != null; line = acks.line()) {
            assertThat(line.length()).isLessThan(16_384);
            for (String range : line.substring(4).split(",", -1)) {
                String[] ends = range.split("-", -1);
                for (long id = Long.parseLong(ends[0]); id <= Long.parseLong(ends[ends.length - 1]); id++) {
                    assertThat(ids.add(id)).isTrue();
                }
            }
        }
        return ids;
    }
}
