package io.tabletrelay.core.pipe;

import io.tabletrelay.core.delivery.DiskTasks;
import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A pipe's tasks for the I/O threads: one runs at a time, so that they may share state without locks, and each one's outcome
 * comes back to the transfer thread as a command.
 *
 * <p>Threading: confined to the pipe's transfer thread, but for the running task.
 */
final class DiskQueue implements DiskTasks {
    private final Executor ioThreads;
    private final Consumer<Runnable> transferThread;
    private final ArrayDeque<DiskTask> waiting = new ArrayDeque<>();
    private boolean running;

    DiskQueue(Executor ioThreads, Consumer<Runnable> transferThread) {
        this.ioThreads = ioThreads;
        this.transferThread = transferThread;
    }

    @Override
    public void submit(DiskTask task) {
        waiting.add(task);
        if (!running) {
            next();
        }
    }

    private void next() {
        DiskTask task = waiting.poll();
        running = task != null;
        if (task != null) {
            ioThreads.execute(() -> run(task));
        }
    }

    private void run(DiskTask task) {
        Throwable failure = runAndCatch(task);
        transferThread.accept(() -> {
            try {
                task.done(failure);
            } finally {
                next();
            }
        });
    }

    /** Whatever the disk throws, an InternalError of a mapped page too, is the pipe's to answer and never the thread's end. */
    private static @Nullable Throwable runAndCatch(DiskTask task) {
        try {
            task.run();
            return null;
        } catch (Throwable failure) {
            return failure;
        }
    }
}
