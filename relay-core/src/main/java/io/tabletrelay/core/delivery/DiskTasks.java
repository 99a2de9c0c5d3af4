package io.tabletrelay.core.delivery;

import org.jspecify.annotations.Nullable;

/**
 * Where work goes that may block on a disk: off the transfer thread, one task of a pipe after the other.
 *
 * <p>Threading: {@link #submit} is for the pipe's transfer thread.
 */
public interface DiskTasks {
    /** Runs the task soon; tasks of one pipe run in the order in which they were submitted. */
    void submit(DiskTask task);

    /** One piece of such work. */
    interface DiskTask {
        /** The part that may block. I/O thread. */
        void run();

        /** What follows from it, back on the transfer thread. {@code failure} is what {@link #run} threw, or null. */
        void done(@Nullable Throwable failure);
    }
}
