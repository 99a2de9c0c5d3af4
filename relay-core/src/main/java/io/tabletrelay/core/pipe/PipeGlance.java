package io.tabletrelay.core.pipe;

import org.jspecify.annotations.Nullable;

/**
 * What is known of a pipe without asking it: how it was after its last turn.
 *
 * <p>Threading: immutable.
 *
 * @param state as in {@link PipeStatus}; CLOSED too for a pipe that was not used since the relay was started
 * @param reason why the pipe is FAILED or not accepting, empty otherwise
 * @param lastId highest id given; null if the pipe was not open since the relay was started
 * @param backlog events that are not settled; null likewise
 * @param inFlight delivered, not settled
 * @param consumer true while a consumer is bound
 */
public record PipeGlance(
        String name,
        String state,
        String reason,
        @Nullable Long lastId,
        @Nullable Long backlog,
        int inFlight,
        boolean consumer) {
    static PipeGlance neverUsed(String name) {
        return new PipeGlance(name, TransferLoop.State.CLOSED.name(), "", null, null, 0, false);
    }
}
