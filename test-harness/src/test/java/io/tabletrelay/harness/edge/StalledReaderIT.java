package io.tabletrelay.harness.edge;

import static io.tabletrelay.harness.edge.EdgeProcess.FULL;
import static io.tabletrelay.harness.edge.EdgeProcess.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.harness.RawClient;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A consumer that stops reading while much waits for it: 1 GiB with {@code -Pedge}. */
class StalledReaderIT {
    private static final String STALLED = "stalled";
    private static final String NEIGHBOUR = "neighbour";
    private static final int EVENT_BYTES = 1 << 20;
    private static final int EVENTS = FULL ? 1024 : 150;
    private static final long MOST_HEAP_BYTES = 100L << 20;
    private static final Duration SLOW = Duration.ofSeconds(FULL ? 30 : 2);

    @TempDir
    private Path data;

    @Test
    void aConsumerThatStopsReadingCostsNoHeapIsToldWhyAndItsEventsComeBack() throws Exception {
        try (EdgeProcess relay = EdgeProcess.start( // A24, BR-086 to BR-089
                        data,
                        "window=1000",
                        "slow=" + SLOW.toMillis(),
                        "fill=" + STALLED + ":" + EVENTS + ":" + EVENT_BYTES);
                RawClient neighbour = relay.bind(NEIGHBOUR);
                RawClient stalled = relay.bind(STALLED)) {
            long boundNanos = System.nanoTime();

            Duration slowest = serveNeighbourUntilCut(relay, neighbour);

            Duration cutAfter = Duration.ofNanos(System.nanoTime() - boundNanos);
            System.out.printf(
                    "stalled: backlog=%d MiB, cut after %d ms, neighbour's slowest event %d ms%n",
                    EVENTS, cutAfter.toMillis(), slowest.toMillis());
            assertThat(cutAfter).isBetween(SLOW, SLOW.plusSeconds(10));
            assertThat(relay.said("slow consumer cut off")).hasSize(1);
            relay.awaitStatus(STALLED, "inFlight", 0);
            long read = readWholeEventsToTheClose(stalled);
            assertThat(read).isBetween(1L, 20L);
            takeEverything(relay);
        }
    }

    private static Duration serveNeighbourUntilCut(EdgeProcess relay, RawClient neighbour) throws Exception {
        Duration slowest = Duration.ZERO;
        long mostHeap = 0;
        for (long id = 1; relay.status(STALLED).path("consumer").asBoolean(); id++) {
            long startNanos = System.nanoTime();
            relay.publish(NEIGHBOUR, ByteBuffer.allocate(100));
            assertThat(neighbour.next(PATIENCE).eventId()).isEqualTo(id);
            neighbour.sendText("ACK:" + id);
            Duration took = Duration.ofNanos(System.nanoTime() - startNanos);
            slowest = took.compareTo(slowest) > 0 ? took : slowest;
            mostHeap = Math.max(mostHeap, relay.metric("jvm_memory_heap_used_bytes"));
        }
        assertThat(mostHeap).isLessThan(MOST_HEAP_BYTES);
        assertThat(slowest).as("neighbour").isLessThan(Duration.ofSeconds(1));
        return slowest;
    }

    private static long readWholeEventsToTheClose(RawClient stalled) throws Exception {
        long read = 0;
        RawClient.Frame frame = stalled.next(PATIENCE);
        while (frame.opcode() == RawClient.BINARY) {
            assertThat(frame.eventId()).isEqualTo(++read);
            assertThat(EdgeRelay.isPayload(frame.event())).isTrue();
            frame = stalled.next(PATIENCE);
        }
        assertThat(frame.opcode()).isEqualTo(RawClient.CLOSE);
        assertThat(frame.closeCode()).isEqualTo(4008);
        return read;
    }

    private static void takeEverything(EdgeProcess relay) throws Exception {
        try (RawClient next = relay.bind(STALLED)) {
            for (long id = 1; id <= EVENTS; id++) {
                RawClient.Frame event = next.next(PATIENCE);
                assertThat(event.eventId()).isEqualTo(id);
                assertThat(EdgeRelay.isPayload(event.event())).isTrue();
                next.sendText("ACK:" + id);
            }
            relay.awaitStatus(STALLED, "floor", EVENTS);
        }
    }

    @Test
    void aHolderThatReadsNothingIsTakenOverWithinTheProbe() throws Exception {
        Duration probe = Duration.ofMillis(800); // A25: the probe's ping waits behind what the holder does not read
        try (EdgeProcess relay = EdgeProcess.start(
                        data, "window=100", "probe=" + probe.toMillis(), "fill=" + STALLED + ":30:" + EVENT_BYTES);
                RawClient zombie = relay.bind(STALLED)) {
            zombie.next(PATIENCE);
            long startNanos = System.nanoTime();

            try (RawClient next = relay.bind(STALLED)) {
                Duration took = Duration.ofNanos(System.nanoTime() - startNanos);

                assertThat(took).isBetween(probe, probe.plusSeconds(3));
                for (long id = 1; id <= 30; id++) {
                    assertThat(next.next(PATIENCE).eventId()).isEqualTo(id);
                    next.sendText("ACK:" + id);
                }
                relay.awaitStatus(STALLED, "floor", 30);
            }
        }
    }
}
