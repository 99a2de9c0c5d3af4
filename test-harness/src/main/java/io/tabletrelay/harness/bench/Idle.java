package io.tabletrelay.harness.bench;

import io.tabletrelay.harness.bench.client.RawConsumer;
import io.tabletrelay.harness.bench.client.ServerProcess;
import io.tabletrelay.harness.bench.client.Usage;
import io.tabletrelay.harness.bench.client.Variant;
import io.tabletrelay.harness.bench.report.Report;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * What a relay costs that has many consumers, each on a pipe of its own, and nothing for them.
 *
 * <p>Threading: immutable.
 */
final class Idle implements Scenario.Measurement {
    private static final String NAME = "idle";
    private static final Duration QUIET = Duration.ofSeconds(2);
    private static final long LOOK_MILLIS = 100;

    @Override
    public int rounds(BenchPlan plan) {
        return 1;
    }

    @Override
    public void run(Bench bench) throws IOException, InterruptedException {
        int count = bench.plan().idleConsumers();
        List<RawConsumer> consumers = new ArrayList<>();
        try (ServerProcess server = bench.newServer(Variant.RELAY, bench.plan().eventBytes())) {
            server.open();
            for (int n = 1; n <= count; n++) {
                consumers.add(RawConsumer.bind(server.wsPort(), "idle-" + n, null));
            }
            answerPings(
                    consumers,
                    QUIET.compareTo(bench.plan().idleTime()) < 0
                            ? QUIET
                            : bench.plan().idleTime());
            Usage before = server.usage();
            answerPings(consumers, bench.plan().idleTime());
            Usage after = server.usage();
            add(bench, count + " consumers", before, after);
            for (RawConsumer consumer : consumers) {
                consumer.close();
            }
            server.shut();
        }
        bench.roundDone();
    }

    private static void add(Bench bench, String what, Usage before, Usage after) {
        Report report = bench.report();
        double seconds = bench.plan().idleTime().toMillis() / 1e3;
        report.add(NAME, what, "CPU ms/s", (after.cpuNanos() - before.cpuNanos()) / 1e6 / seconds);
        report.add(NAME, what, "allocated B/s", (after.allocatedBytes() - before.allocatedBytes()) / seconds);
        report.add(NAME, what, "RSS MiB", after.residentKib() / 1024.0);
        report.add(NAME, what, "of it anonymous MiB", after.anonymousKib() / 1024.0);
        report.compare(NAME, "CPU, % of one core", report.median(NAME, what, "CPU ms/s") / 10);
    }

    private static void answerPings(List<RawConsumer> consumers, Duration time)
            throws IOException, InterruptedException {
        long endNanos = System.nanoTime() + time.toNanos();
        while (System.nanoTime() < endNanos) {
            TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
            for (RawConsumer consumer : consumers) {
                consumer.poll();
            }
        }
    }
}
