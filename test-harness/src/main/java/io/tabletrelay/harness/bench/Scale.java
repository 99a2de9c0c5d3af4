package io.tabletrelay.harness.bench;

import io.tabletrelay.harness.RelayProcess;
import io.tabletrelay.harness.bench.client.ManyPipes;
import io.tabletrelay.harness.bench.client.ProcessFigures;
import io.tabletrelay.harness.bench.client.ServerProcess;
import io.tabletrelay.harness.bench.client.Variant;
import io.tabletrelay.harness.bench.report.Report;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/**
 * What very many pipes cost, of which few are open at a time: to make them, to keep them, to start with them.
 *
 * <p>Threading: immutable.
 */
final class Scale implements Scenario.Measurement {
    static final String NAME = "scale";

    @Override
    public int rounds(BenchPlan plan) {
        return 1 + 2 * plan.allRounds();
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
            double kib = kibOnDisk(data) / count;
            report.add(NAME, count + " pipes", "KiB on disk each", kib);
            report.aimAtMost(NAME, "KiB on disk of an idle pipe", kib, 64);
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
        DeepPipe.measure(bench);
        busyPipes(bench);
    }

    private static void busyPipes(Bench bench) throws IOException, InterruptedException {
        for (int round = 1; round <= bench.plan().allRounds(); round++) {
            for (Variant variant : List.of(Variant.RELAY, Variant.RELAY_PIPES)) {
                ServerProcess server = bench.server(variant);
                long events = bench.plan().backlogEvents();
                server.open();
                server.push(events / 2); // makes the pipes, and brings them past their first steps of growth
                server.awaitPushed();
                server.push(events);
                double seconds = server.awaitPushed() / 1e9;
                server.shut();
                if (round > bench.plan().warmUpRounds()) {
                    bench.report().add(NAME, "stored, " + variant.label(), Throughput.RATE, events / seconds);
                }
                bench.roundDone();
            }
        }
        double ratio = bench.report()
                .ratio(
                        NAME,
                        Throughput.RATE,
                        "stored, " + Variant.RELAY_PIPES.label(),
                        "stored, " + Variant.RELAY.label());
        bench.report().aimAtLeast(NAME, "rate of 1,000 busy pipes / of one", ratio, 0.8);
    }

    /** As the file system counts it: a file's length says nothing here. */
    private static double kibOnDisk(Path data) throws IOException, InterruptedException {
        Process du = new ProcessBuilder("du", "-sk", data.resolve("pipes").toString()).start();
        String answer = new String(du.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (du.waitFor() != 0) {
            throw new IOException("du could not count: folder=" + data + ", answer=" + answer);
        }
        return Double.parseDouble(answer.split("\\s", 2)[0]);
    }

    private static void add(Report report, String what, ManyPipes.Times times) {
        report.add(NAME, what, "s for all", times.allSeconds());
        report.add(NAME, what, "p50 ms", times.medianMillis());
        report.add(NAME, what, "p99 ms", times.p99Millis());
    }
}
