package io.tabletrelay.core.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RedeliveryScheduleTest {
    private final RedeliverySchedule schedule = new RedeliverySchedule();

    @Test
    void eventsThatAreDueGoInTheOrderOfTheirIds() {
        schedule.at(10, 3);
        schedule.now(5);
        schedule.at(5, 9);

        assertThat(schedule.firstDue(9)).isEqualTo(5);
        assertThat(schedule.firstDue(10)).isEqualTo(3);
    }

    @Test
    void eachEventBecomesDueAtItsOwnTimeWhateverItsId() {
        schedule.at(60_000, 1);
        schedule.at(10, 2);

        assertThat(schedule.nextDueNanos(Long.MAX_VALUE)).isEqualTo(10);
        assertThat(schedule.firstDue(10)).isEqualTo(2);
        schedule.remove(2);
        assertThat(schedule.firstDue(59_999)).isZero();
        assertThat(schedule.firstDue(60_000)).isEqualTo(1);
    }

    @Test
    void aSettledEventIsForgottenWhereverItWaits() {
        schedule.now(1);
        schedule.at(50, 2);

        assertThat(schedule.remove(1)).isTrue();
        assertThat(schedule.remove(2)).isTrue();
        assertThat(schedule.remove(2)).isFalse();
        assertThat(schedule.size()).isZero();
        assertThat(schedule.firstDue(100)).isZero();
    }

    @Test
    void timeMayWrapAround() {
        schedule.at(Long.MIN_VALUE + 5, 1);
        schedule.at(Long.MAX_VALUE - 5, 2);

        assertThat(schedule.firstDue(Long.MAX_VALUE - 5)).isEqualTo(2);
        schedule.remove(2);
        assertThat(schedule.firstDue(Long.MIN_VALUE + 4)).isZero();
        assertThat(schedule.firstDue(Long.MIN_VALUE + 5)).isEqualTo(1);
    }
}
