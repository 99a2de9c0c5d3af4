package io.tabletrelay.harness.bench;

import io.tabletrelay.harness.bench.client.ServerProcess;
import io.tabletrelay.harness.bench.client.Usage;
import io.tabletrelay.harness.bench.client.Variant;
import java.io.IOException;
import java.util.List;

/**
 * Events that are on disk when they are confirmed, with so many outstanding as share one force, beside a program that appends as
 * many to a file and forces it, again and again. Nobody consumes.
 *
 * <p>Threading: immutable.
 */
final class Durable implements Scenario.Measurement {
    static final String NAME = "durable";

    private static final List<Variant> VARIANTS = List.of(Variant.RELAY_DISK, Variant.FORCED);

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
        double ratio = bench.report().ratio(NAME, Throughput.RATE, Variant.RELAY_DISK.label(), Variant.FORCED.label());
        bench.report().aimAtLeast(NAME, "relay at disk / (d)", ratio, 0.8);
    }

    private static void round(Bench bench, Variant variant, boolean counts) throws IOException, InterruptedException {
        ServerProcess server = bench.server(variant);
        long events = bench.plan().durableEvents();
        server.open();
        Usage before = server.usage();
        server.push(events);
        long nanos = server.awaitPushed();
        Usage after = server.usage();
        server.shut();
        if (counts) {
            bench.report().add(NAME, variant.label(), Throughput.RATE, events * 1e9 / nanos);
            bench.addCosts(NAME, variant.label(), before, after, events);
        }
    }
}
