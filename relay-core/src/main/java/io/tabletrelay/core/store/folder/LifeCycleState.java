package io.tabletrelay.core.store.folder;

import java.util.EnumSet;
import java.util.Set;

/** The stored state of a pipe; {@link LifeCycle} says how it changes. */
public enum LifeCycleState {
    /** Takes appends and delivers. */
    OPEN,
    /** Takes no append, delivers until everything is settled. */
    DRAINING,
    /** Takes no append and delivers nothing. */
    CLOSED,
    /** Its producer finished it, and everything was settled: for ever. What is kept is delivered to later subscriptions. */
    TERMINATED;

    /** What an operator can make of it. */
    Set<LifeCycleState> successors() {
        return switch (this) { // no default: the compiler finds the forgotten state
            case OPEN -> EnumSet.of(DRAINING);
            case DRAINING -> EnumSet.of(CLOSED);
            case CLOSED -> EnumSet.of(OPEN);
            case TERMINATED -> EnumSet.noneOf(LifeCycleState.class);
        };
    }
}
