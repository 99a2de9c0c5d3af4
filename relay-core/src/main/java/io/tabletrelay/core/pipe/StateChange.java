package io.tabletrelay.core.pipe;

import io.tabletrelay.api.PipeName;
import io.tabletrelay.core.store.folder.LifeCycle;
import io.tabletrelay.core.store.folder.LifeCycleState;
import java.util.Locale;

/** What an operator can do to a pipe's life cycle. */
public enum StateChange {
    /** Nothing is sent any more, until it is resumed; acks count and appends are taken. */
    PAUSE,
    /** No longer paused. */
    RESUME,
    /** No append is taken any more; what is there is delivered until all of it is settled, then the pipe is closed. */
    DRAIN,
    /** A draining pipe is closed though not all is settled: what is left stays, and is not sent. */
    CLOSE,
    /** A closed pipe takes appends again, and delivers. */
    OPEN;

    /** Throws RelayException, WRONG_STATE, where that cannot be done. */
    LifeCycle applyTo(LifeCycle life, PipeName pipe) {
        return switch (this) {
            case PAUSE -> life.paused(true, pipe);
            case RESUME -> life.paused(false, pipe);
            case DRAIN -> life.to(LifeCycleState.DRAINING, pipe);
            case CLOSE -> life.to(LifeCycleState.CLOSED, pipe);
            case OPEN -> life.to(LifeCycleState.OPEN, pipe);
        };
    }

    /** As it is written in addresses and commands. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
