package io.tabletrelay.core.store.folder;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where a pipe stands in its life, as pipe.json has it.
 *
 * <pre>
 *                 drain             all settled, or close
 *          OPEN ---------> DRAINING ---------------------> CLOSED
 *           ^                                                |
 *           +------------------------ open ------------------+
 *
 *          OPEN, DRAINING ---> TERMINATED      finished, there is a subscription, and all is settled
 * </pre>
 *
 * <p>Paused is a flag of OPEN and DRAINING. Each change makes the version rise by one; what is so already is no change.
 *
 * <p>Threading: immutable.
 *
 * @param version rises by one with each change
 * @param paused nothing is sent
 * @param finishedAtId no event of a higher id will ever be there, since the producer has finished the pipe; or NOT_FINISHED
 */
public record LifeCycle(LifeCycleState state, long version, boolean paused, long finishedAtId) {
    public static final long NOT_FINISHED = -1;
    static final LifeCycle NEW = new LifeCycle(LifeCycleState.OPEN, 1, false, NOT_FINISHED);

    /**
     * An operator wants this state.
     *
     * @throws RelayException with WRONG_STATE if it cannot be reached, or not by a command
     */
    public LifeCycle to(LifeCycleState asked, PipeName pipe) {
        if (asked == state) {
            return this;
        }
        if (!state.successors().contains(asked)) {
            throw wrongState(pipe, asked.name(), state.successors());
        }
        return with(asked, paused && asked != LifeCycleState.CLOSED, finishedAtId);
    }

    /**
     * An operator wants it paused, or not.
     *
     * @throws RelayException with WRONG_STATE if there is nothing that could be paused or resumed
     */
    public LifeCycle paused(boolean asked, PipeName pipe) {
        if (asked == paused) {
            return this;
        }
        if (state != LifeCycleState.OPEN && state != LifeCycleState.DRAINING) {
            throw wrongState(pipe, "PAUSED", state.successors());
        }
        return with(state, asked, finishedAtId);
    }

    /**
     * The producer has finished the pipe, whose last id is this one.
     *
     * @throws RelayException with WRONG_STATE if the pipe is closed
     */
    public LifeCycle finished(long lastId, PipeName pipe) {
        if (isFinished()) {
            return this;
        }
        if (state == LifeCycleState.CLOSED) {
            throw wrongState(pipe, "FINISHED", state.successors());
        }
        return with(state, paused, lastId);
    }

    /** Every subscription has settled everything. */
    public LifeCycle settled(boolean hasSubscription) {
        boolean runs = state == LifeCycleState.OPEN || state == LifeCycleState.DRAINING;
        if (runs && isFinished() && hasSubscription) {
            return with(LifeCycleState.TERMINATED, false, finishedAtId);
        }
        return state == LifeCycleState.DRAINING ? with(LifeCycleState.CLOSED, false, finishedAtId) : this;
    }

    public boolean isFinished() {
        return finishedAtId != NOT_FINISHED;
    }

    /** True: what is not settled may be delivered. */
    public boolean sends() {
        return state != LifeCycleState.CLOSED && !paused;
    }

    /** Why no append is taken; null: appends are taken. */
    public @Nullable RelayException refusal(PipeName pipe) {
        if (isFinished()) {
            return new RelayException(
                    ErrorCode.PIPE_FINISHED,
                    "event refused: pipe=" + pipe + ", finished at id=" + finishedAtId
                            + "; its producer has finished it for ever, use another pipe");
        }
        if (state == LifeCycleState.OPEN) {
            return null;
        }
        return new RelayException(
                ErrorCode.WRONG_STATE,
                "event refused: pipe=" + pipe + ", state=" + state
                        + "; publish it again when the pipe was opened (relay pipe open)");
    }

    private LifeCycle with(LifeCycleState nextState, boolean nextPaused, long finished) {
        return new LifeCycle(nextState, version + 1, nextPaused, finished);
    }

    private RelayException wrongState(PipeName pipe, String asked, Collection<LifeCycleState> possible) {
        return new RelayException(
                ErrorCode.WRONG_STATE,
                "pipe's state cannot be changed: pipe=" + pipe + ", state=" + state + ", asked=" + asked + ", possible="
                        + List.copyOf(possible));
    }
}
