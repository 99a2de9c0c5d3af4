package io.tabletrelay.harness.store;

import io.tabletrelay.core.client.RefusedException;
import io.tabletrelay.core.client.RelayHttp;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Asks again and again up to which id each forced pipe has settled everything for good, and has it held to that.
 *
 * <p>Threading: asks on a thread of its own from the constructor until {@link #end}.
 */
final class FloorWatch {
    private static final long PAUSE_MILLIS = 20;

    private final RelayHttp http;
    private final List<PowerPipe> pipes;
    private final Thread thread;
    private final AtomicLong seen = new AtomicLong();
    private volatile boolean closed;

    FloorWatch(RelayHttp http, List<PowerPipe> pipes) {
        this.http = http;
        this.pipes = List.copyOf(pipes);
        thread = new Thread(this::run, "floor-watch");
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        try {
            while (!closed) {
                for (PowerPipe pipe : pipes) {
                    if (pipe.isForced()) {
                        ask(pipe);
                    }
                }
                TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void ask(PowerPipe pipe) throws InterruptedException {
        try {
            long floor = http.pipe(pipe.name()).path("durableFloor").asLong();
            if (floor > 0 && pipe.hasPower()) {
                pipe.history().settledForGood(floor);
                seen.incrementAndGet();
            }
        } catch (IOException | RefusedException e) {
            // no answer says nothing
        }
    }

    /** How many answers said something. */
    long seen() {
        return seen.get();
    }

    /** The relay should be gone. */
    void end() throws InterruptedException {
        closed = true;
        thread.join();
    }
}
