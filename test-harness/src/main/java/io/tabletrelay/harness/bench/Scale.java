package io.tabletrelay.harness.bench;

import io.tabletrelay.harness.RelayProcess;
import io.tabletrelay.harness.bench.client.ManyPipes;
import io.tabletrelay.harness.bench.client.ProcessFigures;
import io.tabletrelay.harness.bench.report.Report;
import java.io.IOException;
import java.nio.file.Path;

/**
 * What very many pipes cost, of which few are open at a time: to make them, to keep them, to start with them.
 *
 * <p>Threading: immutable.
 */
final class Scale implements Scenario.Measurement {
    private static final String NAME = "scale";

    @Override
    public int rounds(BenchPlan plan) {
        return 1;
    }

    @Override
    public void run(Bench bench) throws IOException, InterruptedException {
        int count = bench.plan().manyPipes();
        Path data = bench.folder(NAME);
        Report report = bench.report();
        try (RelayProcess relay = RelayProcess.serve(data)) {
            relay.awaitReady(Bench.PATIENCE);
            try (ManyPipes pipes = new ManyPipes(relay.http())) {
                ManyPipes.Times first = pipes.publish(count);
                add(report, "first event of a new pipe", first);
                report.aimAtMost(NAME, "seconds to make " + count + " pipes", first.allSeconds(), 60);
                ManyPipes.Times second = pipes.publish(count);
                add(report, "first event of a closed pipe", second);
            }
            ProcessFigures figures = ProcessFigures.of(relay.pid());
            report.add(NAME, count + " pipes", "RSS MiB", figures.residentMib());
            report.add(NAME, count + " pipes", "file handles", (double) figures.handles());
            report.add(NAME, count + " pipes", "mappings", (double) figures.mappings());
            report.aimAtMost(NAME, "RSS MiB", figures.residentMib(), 600);
            relay.kill();
        }
        try (RelayProcess relay = RelayProcess.serve(data)) {
            double seconds = relay.awaitReady(Bench.PATIENCE).toMillis() / 1e3;
            report.add(NAME, "restart with " + count + " pipes", "s", seconds);
            report.aimAtMost(NAME, "seconds to be ready again", seconds, 5);
            try (ManyPipes pipes = new ManyPipes(relay.http())) {
                add(report, "first event of a pipe after a restart", pipes.publish(count));
            }
        }
        bench.roundDone();
    }

    private static void add(Report report, String what, ManyPipes.Times times) {
        report.add(NAME, what, "s for all", times.allSeconds());
        report.add(NAME, what, "p50 ms", times.medianMillis());
        report.add(NAME, what, "p99 ms", times.p99Millis());
    }
}
