package io.tabletrelay.harness.edge;

import static io.tabletrelay.harness.edge.EdgeProcess.FULL;
import static io.tabletrelay.harness.edge.EdgeProcess.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.harness.Dialect2Client;
import io.tabletrelay.harness.faults.BrokenSerializer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * How long a neighbour's events take in dialect 2, from the producer to the consumer, while other pipes misbehave:
 * undisturbed and disturbed in turn. Compared only with {@code -Pedge}, which also makes 5,000 connections.
 */
class NeighbourIT {
    private static final String NEIGHBOUR = "neighbour?subscription=s";
    private static final int ROUNDS = FULL ? 3 : 1;
    private static final int EVENTS = FULL ? 2_000 : 200;
    private static final long PERIOD_NANOS = 2_500_000;
    private static final int STORM_CONNECTIONS = FULL ? 5_000 : 150;
    private static final int STALLED_EVENTS = FULL ? 150 : 40;
    private static final long MOST_HEAP_BYTES = 110L << 20;
    private static final double MOST_TIMES = 1.5;
    /** What two cores that others use as well add by themselves. */
    private static final double NOISE_MICROS = 1_000;

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Map<String, Histogram> nanosByName = new LinkedHashMap<>();
    private final AtomicInteger connections = new AtomicInteger();
    private final Random random = new Random(5);
    private long mostHeapBytes;
    private long sequence;

    @TempDir
    private Path data;

    @Test
    void aNeighboursEventsAreNotHeldUpByOthers() throws Exception {
        try (EdgeProcess relay = EdgeProcess.start(
                        data,
                        "fill=stalled:" + STALLED_EVENTS + ":" + (1 << 20),
                        "fill=poison:100:200",
                        "fill=storm:100:200");
                Dialect2Client producer = Dialect2Client.publishing(relay.wsPort(), "neighbour?type=bytes");
                Dialect2Client consumer = Dialect2Client.bound(relay.wsPort(), NEIGHBOUR)) {
            measure("warm-up", producer, consumer);
            for (int round = 0; round < ROUNDS; round++) {
                for (Disturbance each :
                        new Disturbance[] {this::stall, this::poison, this::serializeSlowly, this::storm}) {
                    measure("undisturbed", producer, consumer);
                    disturbed(relay, each, producer, consumer);
                }
            }
            report();
            assertThat(connections).hasValueGreaterThanOrEqualTo(STORM_CONNECTIONS);
            assertThat(mostHeapBytes).isLessThan(MOST_HEAP_BYTES);
            assertThat(relay.said("ERROR")).isEmpty();
            assertThat(relay.said("OutOfMemory")).isEmpty();
        } finally {
            threads.shutdownNow();
        }
        if (FULL) {
            nanosByName.keySet().forEach(this::assertThatTheNeighbourWasNotHeldUp);
        }
    }

    private void assertThatTheNeighbourWasNotHeldUp(String name) {
        assertThat(p99Micros(name))
                .as("p99 µs: %s", name)
                .isLessThanOrEqualTo(MOST_TIMES * p99Micros("undisturbed") + NOISE_MICROS);
    }

    private void disturbed(EdgeProcess relay, Disturbance disturbance, Dialect2Client producer, Dialect2Client consumer)
            throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        CompletableFuture<String> begun = new CompletableFuture<>();
        CompletableFuture<Void> under = CompletableFuture.runAsync(
                () -> {
                    try {
                        disturbance.disturb(relay, begun, over);
                    } catch (IOException e) {
                        throw new IllegalStateException(e);
                    }
                },
                threads);
        String name = begun.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        measure(name, producer, consumer);
        mostHeapBytes = Math.max(mostHeapBytes, relay.metric("jvm_memory_heap_used_bytes"));
        over.set(true);
        under.get(5, TimeUnit.MINUTES);
    }

    private void measure(String name, Dialect2Client producer, Dialect2Client consumer) throws IOException {
        Histogram nanos = nanosByName.computeIfAbsent(name, key -> new Histogram(3));
        long dueNanos = System.nanoTime();
        for (int event = 0; event < EVENTS; event++) {
            dueNanos += PERIOD_NANOS;
            for (long left = dueNanos - System.nanoTime(); left > 0; left = dueNanos - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
            long startNanos = System.nanoTime();
            producer.publish(
                    ++sequence, ByteBuffer.allocate(128).putLong(startNanos).array());
            Dialect2Client.Received received = consumer.next();
            nanos.recordValue(System.nanoTime() - startNanos);
            assertThat(received.payload().getLong(0)).isEqualTo(startNanos);
            consumer.line("ACKTO:" + received.id());
            while (producer.lineWithin(Duration.ZERO) != null) {
                // STORED
            }
        }
    }

    private void stall(EdgeProcess relay, CompletableFuture<String> begun, AtomicBoolean over) throws IOException {
        try (Dialect2Client client =
                Dialect2Client.bound(relay.wsPort(), "stalled?window=65536&window-bytes=1073741824&mode=takeover")) {
            client.next();
            begun.complete("a reader that stalls");
            while (!over.get()) {
                LockSupport.parkNanos(PERIOD_NANOS);
            }
            client.reset();
        }
    }

    private void poison(EdgeProcess relay, CompletableFuture<String> begun, AtomicBoolean over) throws IOException {
        try (Dialect2Client client = Dialect2Client.bound(relay.wsPort(), "poison?mode=takeover")) {
            begun.complete("events refused without end");
            while (!over.get()) {
                Dialect2Client.Received event = client.within(Duration.ofMillis(20));
                if (event != null) {
                    client.line("NACK:" + event.id() + ":0:poison");
                }
            }
        }
    }

    private void serializeSlowly(EdgeProcess relay, CompletableFuture<String> begun, AtomicBoolean over)
            throws IOException {
        try (Dialect2Client client = Dialect2Client.publishing(relay.wsPort(), "slow?type=broken")) {
            begun.complete("a serializer that sleeps");
            long unanswered = 0;
            for (long next = 1; !over.get(); ) {
                if (next - unanswered < 500) {
                    client.publish(next++, new byte[] {BrokenSerializer.SLOW});
                } else {
                    String line = client.lineWithin(Duration.ofMillis(20));
                    unanswered = line == null ? unanswered : Long.parseLong(line.substring("STORED:".length()));
                }
            }
        }
    }

    private void storm(EdgeProcess relay, CompletableFuture<String> begun, AtomicBoolean over) throws IOException {
        begun.complete("connections that are reset");
        int goal = connections.get() + STORM_CONNECTIONS / ROUNDS + 1;
        while (!over.get() || connections.get() < goal) {
            Dialect2Client client = Dialect2Client.connect(relay.wsPort());
            client.line("BIND:storm?mode=takeover&subscription=s" + random.nextInt(3));
            if (random.nextInt(10) > 0) {
                client.nextLine();
                Dialect2Client.Received event = client.within(Duration.ofMillis(5));
                if (event != null) {
                    client.line("NACK:" + event.id() + ":0");
                    client.line("ACKTO:" + event.id() / 2);
                }
            }
            client.reset();
            connections.incrementAndGet();
        }
    }

    private double p99Micros(String name) {
        Histogram nanos = nanosByName.get(name);
        return nanos == null ? Double.NaN : nanos.getValueAtPercentile(99) / 1e3;
    }

    private void report() {
        nanosByName.remove("warm-up");
        nanosByName.forEach((name, nanos) -> System.out.printf(
                "neighbour: %-28s p50=%.0f µs, p99=%.0f µs (%.2f times), most=%.0f µs, events=%d%n",
                name,
                nanos.getValueAtPercentile(50) / 1e3,
                p99Micros(name),
                p99Micros(name) / p99Micros("undisturbed"),
                nanos.getMaxValue() / 1e3,
                nanos.getTotalCount()));
        System.out.printf("neighbour: connections=%d, most heap=%d MiB%n", connections.get(), mostHeapBytes >> 20);
    }

    /** What another pipe does until it is over. */
    @FunctionalInterface
    private interface Disturbance {
        /** Completes the future with its name once it has begun. */
        void disturb(EdgeProcess relay, CompletableFuture<String> begun, AtomicBoolean over) throws IOException;
    }
}
