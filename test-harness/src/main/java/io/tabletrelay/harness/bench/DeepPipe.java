package io.tabletrelay.harness.bench;

import io.tabletrelay.harness.RelayProcess;
import io.tabletrelay.harness.bench.client.ProcessFigures;
import io.tabletrelay.harness.bench.client.RawConsumer;
import io.tabletrelay.harness.bench.client.StoredPipe;
import io.tabletrelay.harness.bench.report.Report;
import java.io.IOException;
import java.nio.file.Path;

/**
 * One pipe with a backlog of millions, every tenth of them settled, against pipes with a backlog of ten thousand.
 *
 * <p>Threading: immutable.
 */
final class DeepPipe {
    private static final String DEEP = "deep";
    private static final int SHALLOW_EVENTS = 10_000;
    private static final int SHALLOW_PIPES = 40;
    /** This part is not counted: the process is new. */
    private static final int WARM_UP_SHARE = 20;

    private DeepPipe() {}

    static void measure(Bench bench) throws IOException, InterruptedException {
        Path data = bench.folder(DEEP);
        long events = bench.plan().deepEvents();
        new StoredPipe(data, DEEP).write(events, events, id -> id % 10 == 0);
        for (int pipe = 0; pipe < SHALLOW_PIPES; pipe++) {
            new StoredPipe(data, shallow(pipe)).write(SHALLOW_EVENTS, 0, id -> false);
        }
        long startNanos = System.nanoTime();
        try (RelayProcess relay =
                RelayProcess.serve(data, "--pipe-window=" + bench.plan().windowEvents())) {
            relay.awaitReady(Bench.PATIENCE);
            Report report = bench.report();
            double deep = drainDeep(relay, startNanos, events, report);
            double shallow = drainShallow(relay);
            report.add(Scale.NAME, "backlog of " + events, Throughput.RATE, deep);
            report.add(Scale.NAME, "backlogs of " + SHALLOW_EVENTS, Throughput.RATE, shallow);
            report.aimAtLeast(Scale.NAME, "rate at that backlog / at 10,000", deep / shallow, 0.85);
        }
    }

    private static String shallow(int pipe) {
        return "shallow-" + pipe;
    }

    private static double drainDeep(RelayProcess relay, long startNanos, long events, Report report)
            throws IOException {
        try (RawConsumer consumer = RawConsumer.bind(relay.wsPort(), DEEP, null)) {
            double seconds = (consumer.receiveAny(1, Bench.PATIENCE) - startNanos) / 1e9;
            report.add(Scale.NAME, "backlog of " + events, "s from start to first", seconds);
            report.aimAtMost(Scale.NAME, "seconds from start to first delivery", seconds, 1.5);
            long warmUp = events / WARM_UP_SHARE;
            long fromNanos = consumer.receiveAny(warmUp, Bench.PATIENCE);
            long last = events / 10 * 8;
            long endNanos = consumer.receiveAny(last, Bench.PATIENCE);
            report.add(
                    Scale.NAME,
                    "backlog of " + events,
                    "RSS MiB",
                    ProcessFigures.of(relay.pid()).residentMib());
            return (last - warmUp) * 1e9 / (endNanos - fromNanos);
        }
    }

    /** From the first event of each to its last. */
    private static double drainShallow(RelayProcess relay) throws IOException {
        long nanos = 0;
        for (int pipe = 0; pipe < SHALLOW_PIPES; pipe++) {
            try (RawConsumer consumer = RawConsumer.bind(relay.wsPort(), shallow(pipe), null)) {
                long fromNanos = consumer.receiveAny(1, Bench.PATIENCE);
                nanos += consumer.receiveAny(SHALLOW_EVENTS, Bench.PATIENCE) - fromNanos;
            }
        }
        return (SHALLOW_EVENTS - 1L) * SHALLOW_PIPES * 1e9 / nanos;
    }
}
