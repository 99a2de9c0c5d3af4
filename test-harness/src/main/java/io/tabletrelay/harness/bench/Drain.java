package io.tabletrelay.harness.bench;

import io.tabletrelay.harness.bench.client.RawConsumer;
import io.tabletrelay.harness.bench.client.ServerProcess;
import io.tabletrelay.harness.bench.client.Usage;
import io.tabletrelay.harness.bench.client.Variant;
import java.io.IOException;
import java.util.List;

/**
 * A backlog that was stored before its consumer came, against events that are made up as they are sent.
 *
 * <p>Threading: immutable.
 */
final class Drain implements Scenario.Measurement {
    private static final String NAME = "drain";
    private static final List<Variant> VARIANTS = List.of(Variant.RELAY, Variant.GATHERED);

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
        double ratio = bench.report().ratio(NAME, Throughput.RATE, Variant.RELAY.label(), Variant.GATHERED.label());
        bench.report().aimAtLeast(NAME, "relay / (b)", ratio, 0.8);
    }

    private static void round(Bench bench, Variant variant, boolean counts) throws IOException, InterruptedException {
        ServerProcess server = bench.server(variant);
        long events = bench.plan().backlogEvents();
        server.open();
        server.push(events);
        server.awaitPushed();
        Usage before = server.usage();
        long startNanos = System.nanoTime();
        long endNanos;
        try (RawConsumer consumer = RawConsumer.bind(server.wsPort(), ServerProcess.PIPE, null)) {
            endNanos = consumer.receive(events, Bench.PATIENCE);
            server.awaitSettled(events);
        }
        Usage after = server.usage();
        server.shut();
        if (counts) {
            bench.report().add(NAME, variant.label(), Throughput.RATE, events * 1e9 / (endNanos - startNanos));
            bench.addCosts(NAME, variant.label(), before, after, events);
        }
    }
}
