package io.tabletrelay.api.client;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;

/**
 * Events that wait for the handler, and at most so many calls of it at once; with one the order is kept.
 *
 * <p>Threading: thread-safe by its lock; the handler is called on the executor, without the lock.
 */
final class Handling {
    private final Executor executor;
    private final int concurrency;
    private final int eventsAtOnce;
    private final Call handler;
    private final Deque<RelayEvent> waiting = new ArrayDeque<>();
    private final Set<Thread> threads = ConcurrentHashMap.newKeySet();
    private int workers;

    /** @param eventsAtOnce most events in one call */
    Handling(Executor executor, int concurrency, int eventsAtOnce, Call handler) {
        this.executor = executor;
        this.concurrency = concurrency;
        this.eventsAtOnce = eventsAtOnce;
        this.handler = handler;
    }

    /** One call of the user's handler, with all that belongs to it; throws nothing. */
    interface Call {
        void handle(List<RelayEvent> events);
    }

    void add(List<RelayEvent> events) {
        int more;
        synchronized (this) {
            waiting.addAll(events);
            more = Math.min(concurrency - workers, waiting.size());
            workers += Math.max(0, more);
        }
        for (int i = 0; i < more; i++) {
            executor.execute(this::work);
        }
    }

    private void work() {
        threads.add(Thread.currentThread());
        try {
            for (List<RelayEvent> events = take(); !events.isEmpty(); events = take()) {
                handler.handle(events);
            }
        } finally {
            threads.remove(Thread.currentThread());
        }
    }

    private synchronized List<RelayEvent> take() {
        if (waiting.isEmpty()) {
            workers--;
            return List.of();
        }
        List<RelayEvent> taken = new ArrayList<>(Math.min(eventsAtOnce, waiting.size()));
        while (taken.size() < eventsAtOnce && !waiting.isEmpty()) {
            taken.add(waiting.remove());
        }
        return taken;
    }

    /** Takes out what no call has begun with. */
    synchronized List<RelayEvent> clear() {
        List<RelayEvent> all = List.copyOf(waiting);
        waiting.clear();
        return all;
    }

    /** True on a thread that calls the handler right now. */
    boolean isCurrent() {
        return threads.contains(Thread.currentThread());
    }
}
