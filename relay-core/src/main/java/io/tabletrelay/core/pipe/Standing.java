package io.tabletrelay.core.pipe;

import io.tabletrelay.core.store.folder.LifeCycle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a list shows of a pipe besides its numbers.
 *
 * <p>Threading: immutable.
 *
 * @param files what they are at
 * @param life null: not known before the files were open
 * @param reason why the pipe has failed, or what is wrong though it is open; empty: nothing
 * @param consumer true while a consumer is bound
 */
record Standing(FilesState files, @Nullable LifeCycle life, String reason, boolean consumer) {
    static final Standing NEW = new Standing(FilesState.OPENING, null, "", false);

    boolean is(FilesState otherFiles, @Nullable LifeCycle otherLife, String otherReason, boolean otherConsumer) {
        boolean sameState = files == otherFiles && Objects.equals(life, otherLife);
        return sameState && reason.equals(otherReason) && consumer == otherConsumer;
    }

    /** As {@link PipeStatus} has it. */
    String state() {
        if (files == FilesState.FAILED) {
            return files.name();
        }
        return life == null ? "UNKNOWN" : life.state().name();
    }

    long version() {
        return life == null ? 0 : life.version();
    }

    boolean paused() {
        return life != null && life.paused();
    }

    @Nullable
    Long finishedAtId() {
        return life == null || !life.isFinished() ? null : (Long) life.finishedAtId();
    }

    /** With what is stored, where the files have not said it yet. */
    Standing orLife(@Nullable LifeCycle stored) {
        return life != null ? this : new Standing(files, stored, reason, consumer);
    }
}
