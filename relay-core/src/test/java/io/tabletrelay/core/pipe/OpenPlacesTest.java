package io.tabletrelay.core.pipe;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

class OpenPlacesTest {
    private static final long SECOND = 1_000_000_000L;

    private final List<String> asked = new ArrayList<>();
    private final List<String> woken = new ArrayList<>();
    private final OpenPlaces places = new OpenPlaces(2, 3);
    private final OpenPlace a = place("a");
    private final OpenPlace b = place("b");
    private final OpenPlace c = place("c");
    private final OpenPlace d = place("d");

    private OpenPlace place(String name) {
        return new OpenPlace(places, () -> woken.add(name), () -> asked.add(name));
    }

    @Test
    void whoWasUsedLongestAgoIsAskedToClose() {
        a.take(0);
        b.take(0);
        a.isWanted(true, 20);
        b.isWanted(true, 10);

        assertThat(c.take(30)).isFalse();
        assertThat(asked).containsExactly("b");

        b.free(40);
        assertThat(woken).containsExactly("c");
        assertThat(c.take(40)).isTrue();
        assertThat(places.taken()).isEqualTo(2);
    }

    @Test
    void nobodyIsAskedTwiceForOnePlace() {
        a.take(0);
        b.take(0);
        a.isWanted(true, 1);
        b.isWanted(true, 2);

        c.take(3);
        c.take(4);

        assertThat(asked).containsExactly("a");
    }

    @Test
    void whereTheFirstHasSomethingToDoTheNextIsAsked() {
        a.take(0);
        b.take(0);
        a.isWanted(true, 1);
        b.isWanted(true, 2);
        c.take(3);

        a.keep(4);

        assertThat(asked).containsExactly("a", "b");
    }

    @Test
    void whoHasNothingToDoAnyMoreWhileOthersWaitIsWanted() {
        a.take(0);
        b.take(0);
        c.take(1);
        assertThat(asked).isEmpty();

        assertThat(a.isWanted(false, 2)).isFalse();
        assertThat(a.isWanted(true, 3)).isTrue();
        assertThat(b.isWanted(true, 4)).isFalse();
    }

    @Test
    void moreAreOpenWhenNobodyGivesWayForAWhileButNeverMoreThanFit() {
        a.take(0);
        b.take(0);
        assertThat(c.take(0)).isFalse();
        assertThat(d.take(0)).isFalse();
        assertThat(c.take(SECOND - 1)).isFalse();

        assertThat(c.take(SECOND)).isTrue();
        assertThat(d.take(3 * SECOND)).isFalse();
        assertThat(d.waitedNanos(3 * SECOND)).isEqualTo(3 * SECOND);

        assertThat(a.isWanted(true, 4 * SECOND)).isTrue();
        a.free(4 * SECOND);
        assertThat(woken).isEmpty();
        assertThat(d.take(6 * SECOND)).isTrue();
        assertThat(places.taken()).isEqualTo(3);
    }

    @Test
    void whoWaitsNoMoreGetsNoPlace() {
        a.take(0);
        b.take(0);
        c.take(0);
        d.take(0);

        c.free(1);
        a.free(2);

        assertThat(woken).containsExactly("d");
    }

    @Test
    void aLimitOfFewFilesLowersTheNumberOfPipes() {
        assertThat(new SystemLimits(1_024, Long.MAX_VALUE).places(2_000).most()).isEqualTo(64);
        assertThat(new SystemLimits(1 << 20, 65_530).places(2_000).most()).isEqualTo(7_935);
        assertThat(new SystemLimits(64, 65_530).places(2_000).most()).isEqualTo(1);
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void theSystemsLimitsAreRead() {
        assertThat(SystemLimits.ofThisProcess().openFiles()).isBetween(100L, 1L << 40);
        assertThat(SystemLimits.ofThisProcess().mappings()).isBetween(10_000L, 1L << 40);
    }
}
