package io.tabletrelay.harness.bench;

import io.tabletrelay.harness.bench.client.HttpFeed;
import io.tabletrelay.harness.bench.client.RawConsumer;
import io.tabletrelay.harness.bench.client.ServerProcess;
import io.tabletrelay.harness.bench.client.Usage;
import io.tabletrelay.harness.bench.client.Variant;
import io.tabletrelay.harness.bench.report.Report;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * One pipe at full speed, from the first publish to the last event received, an ack for each. A round of each variant
 * follows the other, so that all see the same weather.
 *
 * <p>Threading: immutable.
 */
final class Throughput implements Scenario.Measurement {
    static final String NAME = "throughput";
    static final String RATE = "events/s";

    static final List<Variant> VARIANTS = List.of(
            Variant.RELAY, Variant.RELAY_HTTP, Variant.PLAIN, Variant.GATHERED, Variant.CHRONICLE, Variant.BLAST);

    @Override
    public int rounds(BenchPlan plan) {
        return plan.allRounds() * VARIANTS.size();
    }

    @Override
    public void run(Bench bench) throws IOException, InterruptedException {
        for (int round = 1; round <= bench.plan().allRounds(); round++) {
            for (Variant variant : VARIANTS) {
                round(bench, variant, round > bench.plan().warmUpRounds());
                bench.roundDone();
            }
        }
        Report report = bench.report();
        report.aimAtLeast(NAME, "relay / (a)", ratio(report, Variant.RELAY, Variant.PLAIN), 1.2);
        report.aimAtLeast(NAME, "relay / (b)", ratio(report, Variant.RELAY, Variant.GATHERED), 0.7);
        report.compare(NAME, "relay / (c)", ratio(report, Variant.RELAY, Variant.CHRONICLE));
        report.compare(NAME, "CPU relay / (a)", cpuRatio(report, Variant.PLAIN));
        report.compare(NAME, "CPU relay / (b)", cpuRatio(report, Variant.GATHERED));
        report.compare(NAME, "relay, over HTTP / relay", ratio(report, Variant.RELAY_HTTP, Variant.RELAY));
        report.compare(NAME, "client's ceiling / (b)", ratio(report, Variant.BLAST, Variant.GATHERED));
    }

    private static double ratio(Report report, Variant variant, Variant to) {
        return report.ratio(NAME, RATE, variant.label(), to.label());
    }

    private static double cpuRatio(Report report, Variant to) {
        return report.ratio(NAME, Bench.CPU, Variant.RELAY.label(), to.label());
    }

    private static void round(Bench bench, Variant variant, boolean counts) throws IOException, InterruptedException {
        ServerProcess server = bench.server(variant);
        long events = bench.plan().pushEvents();
        server.open();
        Usage before;
        long nanos;
        if (variant == Variant.CHRONICLE) {
            before = server.usage();
            server.push(events);
            nanos = server.awaitPushed();
            server.awaitSettled(events);
        } else {
            try (RawConsumer consumer = RawConsumer.bind(server.wsPort(), ServerProcess.PIPE, null)) {
                before = server.usage();
                nanos = push(server, variant, bench.plan(), consumer);
            }
        }
        Usage after = server.usage();
        server.shut();
        if (counts) {
            bench.report().add(NAME, variant.label(), RATE, events * 1e9 / nanos);
            bench.addCosts(NAME, variant.label(), before, after, events);
        }
    }

    /** Returns how long it took until the last event was here; all acks have been read by then. */
    private static long push(ServerProcess server, Variant variant, BenchPlan plan, RawConsumer consumer)
            throws IOException, InterruptedException {
        long events = plan.pushEvents();
        long startNanos = System.nanoTime();
        long endNanos;
        if (variant == Variant.RELAY_HTTP) {
            CompletableFuture<Void> published = new HttpFeed(server.http(), plan.eventBytes()).publish(events);
            endNanos = consumer.receive(events, Bench.PATIENCE);
            published.join();
        } else {
            server.push(events);
            endNanos = variant == Variant.BLAST
                    ? consumer.receiveAny(events, Bench.PATIENCE)
                    : consumer.receive(events, Bench.PATIENCE);
            server.awaitPushed();
        }
        server.awaitSettled(events);
        return endNanos - startNanos;
    }
}
