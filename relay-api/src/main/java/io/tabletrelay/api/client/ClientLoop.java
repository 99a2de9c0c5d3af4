package io.tabletrelay.api.client;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The one thread that owns a client's state.
 *
 * <p>Threading: thread-safe; after {@link #stop} tasks are dropped.
 */
final class ClientLoop {
    private final ScheduledThreadPoolExecutor executor;
    private final Consumer<Throwable> failed;
    private volatile Thread thread = Thread.currentThread();

    /** @param failed told, on the loop, what a task threw */
    ClientLoop(String name, Consumer<Throwable> failed) {
        this.failed = failed;
        executor = new ScheduledThreadPoolExecutor(
                1, task -> thread = daemon(task, name), new ThreadPoolExecutor.DiscardPolicy());
        executor.setRemoveOnCancelPolicy(true);
    }

    static Thread daemon(Runnable task, String name) {
        Thread thread = Executors.defaultThreadFactory().newThread(task);
        thread.setName(name);
        thread.setDaemon(true);
        return thread;
    }

    void run(Runnable task) {
        executor.execute(() -> guarded(task));
    }

    void after(Duration delay, Runnable task) {
        var unused = executor.schedule(() -> guarded(task), delay.toNanos(), TimeUnit.NANOSECONDS);
    }

    private void guarded(Runnable task) {
        try {
            task.run();
        } catch (Throwable e) {
            failed.accept(e);
        }
    }

    boolean isCurrent() {
        return Thread.currentThread() == thread;
    }

    void stop() {
        executor.shutdownNow();
    }
}
