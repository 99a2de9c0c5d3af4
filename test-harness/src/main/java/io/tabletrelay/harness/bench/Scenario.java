package io.tabletrelay.harness.bench;

import java.io.IOException;
import java.util.Locale;

/** What can be measured, by its name on the command line. */
enum Scenario {
    THROUGHPUT,
    DURABLE,
    LATENCY,
    DRAIN,
    IDLE,
    FRAMES,
    SCALE;

    /** Measures. */
    interface Measurement {
        void run(Bench bench) throws IOException, InterruptedException;

        /** How often it will call {@link Bench#roundDone}. */
        int rounds(BenchPlan plan);
    }

    /** As it is written on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }

    Measurement measurement() {
        return switch (this) {
            case THROUGHPUT -> new Throughput();
            case DURABLE -> new Durable();
            case LATENCY -> new Latency();
            case DRAIN -> new Drain();
            case IDLE -> new Idle();
            case FRAMES -> new Frames();
            case SCALE -> new Scale();
        };
    }
}
