package io.tabletrelay.core.store.folder;

import static io.tabletrelay.core.store.folder.LifeCycleState.CLOSED;
import static io.tabletrelay.core.store.folder.LifeCycleState.DRAINING;
import static io.tabletrelay.core.store.folder.LifeCycleState.OPEN;
import static io.tabletrelay.core.store.folder.LifeCycleState.TERMINATED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class LifeCycleTest {
    private static final PipeName PIPE = new PipeName("orders");
    private static final Map<LifeCycleState, LifeCycleState> ALLOWED =
            Map.of(OPEN, DRAINING, DRAINING, CLOSED, CLOSED, OPEN);

    static Stream<Arguments> orderedPairs() {
        return Arrays.stream(LifeCycleState.values())
                .flatMap(from -> Arrays.stream(LifeCycleState.values()).map(to -> Arguments.of(from, to)));
    }

    @ParameterizedTest
    @MethodSource("orderedPairs")
    void anOperatorCanGoRoundAndNoOtherWay(LifeCycleState from, LifeCycleState to) {
        LifeCycle life = new LifeCycle(from, 7, false, LifeCycle.NOT_FINISHED);
        LifeCycleState next = ALLOWED.get(from);

        if (from == to) {
            assertThat(life.to(to, PIPE)).isEqualTo(life);
        } else if (to == next) {
            assertThat(life.to(to, PIPE)).isEqualTo(new LifeCycle(to, 8, false, LifeCycle.NOT_FINISHED));
        } else {
            assertThatThrownBy(() -> life.to(to, PIPE))
                    .isInstanceOfSatisfying(
                            RelayException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.WRONG_STATE))
                    .hasMessage("pipe's state cannot be changed: pipe=orders, state=" + from + ", asked=" + to
                            + ", possible=[" + (next == null ? "" : next) + "]");
        }
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                // state, finished, has a subscription, becomes
                "OPEN, false, true, -",
                "OPEN, true, false, -",
                "OPEN, true, true, TERMINATED",
                "DRAINING, false, false, CLOSED",
                "DRAINING, false, true, CLOSED",
                "DRAINING, true, false, CLOSED",
                "DRAINING, true, true, TERMINATED",
                "CLOSED, false, true, -",
                "CLOSED, true, true, -",
                "TERMINATED, true, true, -",
            })
    void whatIsAllSettledGoesOnByItself(
            LifeCycleState state, boolean finished, boolean subscribed, @Nullable LifeCycleState next) {
        boolean pauses = state == OPEN || state == DRAINING;
        LifeCycle life = new LifeCycle(state, 7, pauses, finished ? 40 : LifeCycle.NOT_FINISHED);

        LifeCycle settled = life.settled(subscribed);

        assertThat(settled)
                .isEqualTo(next == null ? life : new LifeCycle(next, 8, false, finished ? 40 : LifeCycle.NOT_FINISHED));
    }

    @ParameterizedTest
    @EnumSource
    void onlyWhatRunsCanBePaused(LifeCycleState state) {
        LifeCycle life = new LifeCycle(state, 7, false, LifeCycle.NOT_FINISHED);

        assertThat(life.paused(false, PIPE)).isEqualTo(life);
        if (state == OPEN || state == DRAINING) {
            LifeCycle paused = life.paused(true, PIPE);
            assertThat(paused).isEqualTo(new LifeCycle(state, 8, true, LifeCycle.NOT_FINISHED));
            assertThat(paused.paused(true, PIPE)).isEqualTo(paused);
            assertThat(paused.paused(false, PIPE)).isEqualTo(new LifeCycle(state, 9, false, LifeCycle.NOT_FINISHED));
        } else {
            assertThatThrownBy(() -> life.paused(true, PIPE)).hasMessageContaining("state=" + state + ", asked=PAUSED");
        }
    }

    @Test
    void drainingKeepsThePauseAndClosingEndsIt() {
        LifeCycle draining = LifeCycle.NEW.paused(true, PIPE).to(DRAINING, PIPE);

        assertThat(draining.paused()).isTrue();
        assertThat(draining.to(CLOSED, PIPE).paused()).isFalse();
    }

    @Test
    void finishingIsForEverAndARepeatChangesNothing() {
        LifeCycle finished = LifeCycle.NEW.finished(40, PIPE);

        assertThat(finished).isEqualTo(new LifeCycle(OPEN, 2, false, 40));
        assertThat(finished.finished(50, PIPE)).isEqualTo(finished);
        LifeCycle round =
                finished.to(DRAINING, PIPE).to(CLOSED, PIPE).finished(50, PIPE).to(OPEN, PIPE);
        assertThat(round.finishedAtId()).isEqualTo(40);
        assertThat(round.settled(true).state()).isEqualTo(TERMINATED);
    }

    @Test
    void aClosedPipeCannotBeFinished() {
        LifeCycle closed = LifeCycle.NEW.to(DRAINING, PIPE).to(CLOSED, PIPE);

        assertThatThrownBy(() -> closed.finished(40, PIPE))
                .hasMessage(
                        "pipe's state cannot be changed: pipe=orders, state=CLOSED, asked=FINISHED, possible=[OPEN]");
    }

    @ParameterizedTest
    @EnumSource
    void appendsAreTakenWhileOpenAndSendingGoesOnUnlessClosed(LifeCycleState state) {
        LifeCycle life = new LifeCycle(state, 7, false, LifeCycle.NOT_FINISHED);

        assertThat(life.refusal(PIPE) == null).isEqualTo(state == OPEN);
        assertThat(life.sends()).isEqualTo(state != CLOSED);
        RelayException finished = new LifeCycle(state, 7, false, 0).refusal(PIPE);
        assertThat(finished).isNotNull().extracting(RelayException::code).isEqualTo(ErrorCode.PIPE_FINISHED);
    }

    @Test
    void whatIsPausedTakesAppendsAndSendsNothing() {
        LifeCycle paused = LifeCycle.NEW.paused(true, PIPE);

        assertThat(paused.refusal(PIPE)).isNull();
        assertThat(paused.sends()).isFalse();
    }
}
