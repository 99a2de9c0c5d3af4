package io.tabletrelay.core;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs the tasks of one key one after another, in the order in which they came, and those of different keys side by
 * side. Each task takes its turn in the pool anew, so that a long lane holds up nobody else's.
 *
 * <p>Threading: thread-safe by its monitor, which is held for a map access only.
 */
final class SerializerLanes {
    private final Executor pool;
    /** A key is here while one of its tasks runs; its queue has those that wait. */
    private final Map<Object, Queue<Consumer<Runnable>>> lanes = new HashMap<>();

    SerializerLanes(Executor pool) {
        this.pool = pool;
    }

    /**
     * Runs the task on the pool when all tasks of this key that came before it have ended.
     *
     * @param task is given what it must run once, on any thread, when it has ended; must not throw
     */
    void enter(Object key, Consumer<Runnable> task) {
        if (isFirst(key, task)) {
            start(key, task);
        }
    }

    private void start(Object key, Consumer<Runnable> task) {
        pool.execute(() -> task.accept(() -> {
            Consumer<Runnable> next = next(key);
            if (next != null) {
                start(key, next);
            }
        }));
    }

    private synchronized boolean isFirst(Object key, Consumer<Runnable> task) {
        Queue<Consumer<Runnable>> waiting = lanes.get(key);
        if (waiting == null) {
            lanes.put(key, new ArrayDeque<>(1));
            return true;
        }
        waiting.add(task);
        return false;
    }

    private synchronized @Nullable Consumer<Runnable> next(Object key) {
        Queue<Consumer<Runnable>> waiting = lanes.get(key);
        Consumer<Runnable> next = waiting == null ? null : waiting.poll();
        if (next == null) {
            lanes.remove(key);
        }
        return next;
    }
}
