package io.tabletrelay.core.pipe;

import org.jspecify.annotations.Nullable;

/**
 * What is known of a pipe without asking it: how it was after its last turn.
 *
 * <p>Threading: immutable.
 *
 * @param state as in {@link PipeStatus}
 * @param reason why the pipe is FAILED or not accepting, empty otherwise
 * @param open true while its files are open
 * @param paused true while nothing is sent
 * @param lastId highest id given; null if the pipe was not open since the relay was started
 * @param backlog events that are not settled; null likewise
 * @param inFlight delivered, not settled
 * @param consumer true while a consumer is bound
 */
public record PipeGlance(
        String name,
        String state,
        String reason,
        boolean open,
        boolean paused,
        @Nullable Long lastId,
        @Nullable Long backlog,
        int inFlight,
        boolean consumer) {
    static PipeGlance of(String name, Standing standing, LoopedPipe.Snapshot last) {
        return new PipeGlance(
                name,
                standing.state(),
                standing.reason(),
                standing.files() == FilesState.OPEN,
                standing.paused(),
                last.known() ? last.lastId() : null,
                last.known() ? last.backlog() : null,
                last.inFlight(),
                standing.consumer());
    }
}
