package io.tabletrelay.core.delivery;

/**
 * How often in a row a pipe's consumer was lost with events in its hands, and nothing settled in between.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 */
public final class LossStreak {
    private int losses;

    void lost() {
        losses++;
    }

    void ends() {
        losses = 0;
    }

    int losses() {
        return losses;
    }
}
