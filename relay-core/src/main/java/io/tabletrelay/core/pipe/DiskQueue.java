package io.tabletrelay.core.pipe;

import io.tabletrelay.core.delivery.DiskTasks;
import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A pipe's work for the I/O threads. One piece runs at a time, and its outcome comes back to the transfer thread as a command.
 *
 * <p>Threading: confined to the pipe's transfer thread, but for the piece that runs.
 */
final class DiskQueue implements DiskTasks {
    private record Task(Runnable work, Consumer<@Nullable Throwable> then) {}

    private final Executor ioThreads;
    private final Consumer<Runnable> transferThread;
    private final ArrayDeque<Task> waiting = new ArrayDeque<>();
    private boolean running;

    DiskQueue(Executor ioThreads, Consumer<Runnable> transferThread) {
        this.ioThreads = ioThreads;
        this.transferThread = transferThread;
    }

    @Override
    public void submit(Runnable work, Consumer<@Nullable Throwable> then) {
        waiting.add(new Task(work, then));
        if (!running) {
            next();
        }
    }

    /** True: nothing runs, and nothing waits. */
    boolean isIdle() {
        return !running && waiting.isEmpty();
    }

    private void next() {
        Task task = waiting.poll();
        running = task != null;
        if (task != null) {
            try {
                ioThreads.execute(() -> run(task));
            } catch (RejectedExecutionException e) { // the relay is stopping
                done(task, e);
            }
        }
    }

    private void run(Task task) {
        done(task, runAndCatch(task.work()));
    }

    private void done(Task task, @Nullable Throwable failure) {
        transferThread.accept(() -> {
            try {
                task.then().accept(failure);
            } finally {
                next();
            }
        });
    }

    /** Whatever the disk throws, an InternalError of a mapped page too, is the pipe's to answer and never the thread's end. */
    private static @Nullable Throwable runAndCatch(Runnable work) {
        try {
            work.run();
            return null;
        } catch (Throwable failure) {
            return failure;
        }
    }
}
