package io.tabletrelay.core.store.log;

import org.jspecify.annotations.Nullable;

/**
 * One log in the memory of this process, while it is closed too: what was closed in order is opened again without a look at all
 * of it, and appended to where it ended.
 *
 * <p>Threading: used by the pipe's I/O tasks, one at a time.
 */
public final class LogMemory {
    private @Nullable ChronicleEventLog open;
    private @Nullable ClosedLog closed;

    void opened(ChronicleEventLog log) {
        open = log;
    }

    /** What was left by the last close, once. */
    @Nullable
    ClosedLog take() {
        ClosedLog taken = closed;
        closed = null;
        return taken;
    }

    /** Closes the log that was opened last; it had nothing to do. Closed otherwise, it is recovered at the next open. */
    public void closeInOrder() {
        ChronicleEventLog log = open;
        open = null;
        if (log != null) {
            closed = log.closeInOrder();
        }
    }
}
