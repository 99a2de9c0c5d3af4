package io.tabletrelay.core.delivery;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Where work goes that may block on a disk: off the transfer thread, one piece of a pipe's after the other.
 *
 * <p>Threading: {@link #submit} is for the pipe's transfer thread.
 */
public interface DiskTasks {
    /**
     * Runs the work soon; a pipe's are run in the order in which they were submitted, and may share state without locks.
     *
     * @param work what may block, on an I/O thread
     * @param then what follows, back on the transfer thread; it gets what the work threw, or null
     */
    void submit(Runnable work, Consumer<@Nullable Throwable> then);
}
