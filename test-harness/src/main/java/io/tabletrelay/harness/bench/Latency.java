package io.tabletrelay.harness.bench;

import io.tabletrelay.harness.bench.client.RawConsumer;
import io.tabletrelay.harness.bench.client.ServerProcess;
import io.tabletrelay.harness.bench.client.Variant;
import io.tabletrelay.harness.bench.report.Report;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import org.HdrHistogram.Histogram;

/**
 * From when an event was due to when it was here, at fixed rates. The time in an event is that of the other process:
 * {@code System.nanoTime()} is the machine's CLOCK_MONOTONIC on Linux, the same for all processes.
 *
 * <p>Threading: immutable.
 */
final class Latency implements Scenario.Measurement {
    private static final List<Variant> VARIANTS = List.of(Variant.RELAY, Variant.GATHERED);
    private static final int DIGITS = 3;

    @Override
    public int rounds(BenchPlan plan) {
        return plan.allRounds() * VARIANTS.size() * plan.ratesPerSecond().size();
    }

    @Override
    public void run(Bench bench) throws IOException, InterruptedException {
        for (int rate : bench.plan().ratesPerSecond()) {
            String name = String.format(Locale.ROOT, "latency at %,d/s", rate);
            for (int round = 1; round <= bench.plan().allRounds(); round++) {
                for (Variant variant : VARIANTS) {
                    Histogram nanos = round(bench, variant, rate);
                    if (round > bench.plan().warmUpRounds()) {
                        add(bench.report(), name, variant, nanos);
                    }
                    bench.roundDone();
                }
            }
            Report report = bench.report();
            report.aimAtMost(name, "p50 relay / (b)", ratio(report, name, "p50 µs"), 1.3);
            report.compare(name, "p99 relay / (b)", ratio(report, name, "p99 µs"));
        }
    }

    private static double ratio(Report report, String name, String unit) {
        return report.ratio(name, unit, Variant.RELAY.label(), Variant.GATHERED.label());
    }

    private static void add(Report report, String name, Variant variant, Histogram nanos) {
        report.add(name, variant.label(), "p50 µs", nanos.getValueAtPercentile(50) / 1e3);
        report.add(name, variant.label(), "p99 µs", nanos.getValueAtPercentile(99) / 1e3);
        report.add(name, variant.label(), "p99.9 µs", nanos.getValueAtPercentile(99.9) / 1e3);
        report.add(name, variant.label(), "most µs", nanos.getMaxValue() / 1e3);
    }

    private static Histogram round(Bench bench, Variant variant, int rate) throws IOException, InterruptedException {
        long events = bench.plan().pacedEvents(rate);
        Histogram nanos = new Histogram(DIGITS);
        ServerProcess server = bench.server(variant);
        server.open();
        try (RawConsumer consumer = RawConsumer.bind(server.wsPort(), ServerProcess.PIPE, nanos)) {
            server.pace(rate, events);
            consumer.receive(events, Bench.PATIENCE);
            server.awaitPushed();
            server.awaitSettled(events);
        }
        server.shut();
        return nanos;
    }
}
