package io.tabletrelay.harness.bench;

import java.io.IOException;

/** What can be measured, by its name on the command line. */
enum Scenario {
    THROUGHPUT,
    LATENCY,
    DRAIN,
    IDLE;

    /** Measures. */
    interface Measurement {
        void run(Bench bench) throws IOException, InterruptedException;

        /** How often it will call {@link Bench#roundDone}. */
        int rounds(BenchPlan plan);
    }

    Measurement measurement() {
        return switch (this) {
            case THROUGHPUT -> new Throughput();
            case LATENCY -> new Latency();
            case DRAIN -> new Drain();
            case IDLE -> new Idle();
        };
    }
}
