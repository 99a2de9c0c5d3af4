package io.tabletrelay.core.delivery;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** One event into a full window of 1,000, and the oldest out of it. */
@State(Scope.Thread)
public class InFlightWindowBenchmark {
    private static final int WINDOW_EVENTS = 1_000;
    private static final int FRAME_BYTES = 1_036;

    private final InFlightWindow window = new InFlightWindow();
    private long sent;

    public InFlightWindowBenchmark() {
        while (sent < WINDOW_EVENTS) {
            add();
        }
    }

    private void add() {
        window.add(++sent, 100, sent);
        window.lastEndsAt(sent * FRAME_BYTES);
    }

    @Benchmark
    public boolean addAndRemove() {
        add();
        window.written((sent - 1) * FRAME_BYTES, sent);
        return window.remove(sent - WINDOW_EVENTS);
    }
}
