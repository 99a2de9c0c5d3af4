package io.tabletrelay.harness.bench;

import io.tabletrelay.harness.bench.client.FramePublisher;
import io.tabletrelay.harness.bench.client.HttpFeed;
import io.tabletrelay.harness.bench.client.RawConsumer;
import io.tabletrelay.harness.bench.client.ServerProcess;
import io.tabletrelay.harness.bench.client.Usage;
import io.tabletrelay.harness.bench.client.Variant;
import io.tabletrelay.harness.bench.report.Report;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * Dialect 2: a backlog drained in batches beside one drained event by event; publishing in frames beside HTTP and beside a
 * caller in the same process; and both ends at once.
 *
 * <p>Threading: immutable.
 */
final class Frames implements Scenario.Measurement {
    static final String NAME = "frames";
    private static final int SMALL_BYTES = 128;
    private static final int KIB = 1_024;
    private static final int LARGE_BYTES = 32 * KIB;
    private static final List<Integer> SIZES = List.of(SMALL_BYTES, KIB, LARGE_BYTES);
    /** What is published of the large ones in a round, so that it fits on a small disk. */
    private static final int LARGE_DIVISOR = 20;

    private static final String DIALECT_1 = "drain 128 B, dialect 1";
    private static final String DIALECT_2 = "drain 128 B, dialect 2";
    private static final String BOTH_ENDS = "1024 B in frames, out in batches";

    @Override
    public int rounds(BenchPlan plan) {
        return plan.allRounds() * (2 + 3 * SIZES.size() + 1);
    }

    @Override
    public void run(Bench bench) throws IOException, InterruptedException {
        for (int bytes : SIZES) {
            try (ServerProcess server = bench.newServer(Variant.RELAY, bytes)) {
                for (int round = 1; round <= bench.plan().allRounds(); round++) {
                    Round here =
                            new Round(bench, server, bytes, round > bench.plan().warmUpRounds());
                    if (bytes == SMALL_BYTES) {
                        here.drain(DIALECT_1, false);
                        here.drain(DIALECT_2, true);
                    }
                    here.embedded();
                    here.overHttp();
                    here.inFrames();
                    if (bytes == KIB) {
                        here.bothEnds();
                    }
                }
            }
        }
        Report report = bench.report();
        report.aimAtLeast(
                NAME, "drain 128 B, dialect 2 / 1", report.ratio(NAME, Throughput.RATE, DIALECT_2, DIALECT_1), 5);
        report.aimAtLeast(
                NAME, "events/s of 128 B, dialect 2", report.median(NAME, DIALECT_2, Throughput.RATE), 500_000);
        report.aimAtMost(NAME, "CPU µs/event of 1 KiB, both ends", report.median(NAME, BOTH_ENDS, Bench.CPU), 3);
        for (int bytes : SIZES) {
            for (String other : List.of("embedded", "HTTP")) {
                report.compare(
                        NAME,
                        "publish " + bytes + " B, frames / " + other,
                        report.ratio(NAME, Throughput.RATE, publish(bytes, "frames"), publish(bytes, other)));
            }
        }
    }

    private static String publish(int bytes, String how) {
        return "publish " + bytes + " B, " + how;
    }

    /** One round at one server. */
    private record Round(Bench bench, ServerProcess server, int eventBytes, boolean counts) {
        private interface Work {
            /** Returns how many nanoseconds it took. */
            long run() throws IOException, InterruptedException;
        }

        private long events() {
            long all = bench.plan().pushEvents();
            return eventBytes == LARGE_BYTES ? all / LARGE_DIVISOR : all;
        }

        private void measure(String what, Work work) throws IOException, InterruptedException {
            Usage before = server.usage();
            long nanos = work.run();
            Usage after = server.usage();
            if (counts) {
                bench.report().add(NAME, what, Throughput.RATE, events() * 1e9 / nanos);
                bench.addCosts(NAME, what, before, after, events());
            }
            bench.roundDone();
        }

        private void drain(String what, boolean batched) throws IOException, InterruptedException {
            server.open();
            server.push(events());
            server.awaitPushed();
            measure(what, () -> {
                long start = System.nanoTime();
                try (RawConsumer consumer = batched
                        ? RawConsumer.bindBatched(server.wsPort(), ServerProcess.PIPE)
                        : RawConsumer.bind(server.wsPort(), ServerProcess.PIPE, null)) {
                    long end = consumer.receive(events(), Bench.PATIENCE);
                    server.awaitSettled(events());
                    return end - start;
                }
            });
            server.shut();
        }

        private void embedded() throws IOException, InterruptedException {
            server.open();
            measure(publish(eventBytes, "embedded"), () -> {
                server.push(events());
                return server.awaitPushed();
            });
            server.shut();
        }

        private void overHttp() throws IOException, InterruptedException {
            server.open();
            measure(publish(eventBytes, "HTTP"), () -> {
                long start = System.nanoTime();
                new HttpFeed(server.http(), eventBytes).publish(events()).join();
                return System.nanoTime() - start;
            });
            server.shut();
        }

        private void inFrames() throws IOException, InterruptedException {
            server.open();
            try (FramePublisher publisher = publisher()) {
                measure(publish(eventBytes, "frames"), () -> {
                    long start = System.nanoTime();
                    return publisher.publish(events(), Bench.PATIENCE) - start;
                });
            }
            server.shut();
        }

        private void bothEnds() throws IOException, InterruptedException {
            server.open();
            try (FramePublisher publisher = publisher();
                    RawConsumer consumer = RawConsumer.bindBatched(server.wsPort(), ServerProcess.PIPE)) {
                measure(BOTH_ENDS, () -> {
                    long start = System.nanoTime();
                    CompletableFuture<Long> published = CompletableFuture.supplyAsync(() -> {
                        try {
                            return publisher.publish(events(), Bench.PATIENCE);
                        } catch (IOException e) {
                            throw new UncheckedIOException(e);
                        }
                    });
                    long end = consumer.receive(events(), Bench.PATIENCE);
                    try {
                        published.get();
                    } catch (ExecutionException e) {
                        throw new IOException("publishing broke", e);
                    }
                    server.awaitSettled(events());
                    return end - start;
                });
            }
            server.shut();
        }

        private FramePublisher publisher() throws IOException {
            return FramePublisher.open(server.wsPort(), ServerProcess.PIPE, "bench", eventBytes);
        }
    }
}
