package io.tabletrelay.harness.faults;

import static io.tabletrelay.harness.faults.BoundClient.ids;
import static io.tabletrelay.harness.faults.TestRelay.window;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.tabletrelay.api.Appended;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.harness.RawClient;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The threads that move events: woken in time, never stopped, never in each other's way. */
class TransferFaultsTest {
    private static final String PIPE = "p";

    @TempDir
    private Path data;

    @Test
    void theFirstEventOfAColdPipeLeavesAtOnce() throws Exception {
        List<Duration> waits = new ArrayList<>(); // A10
        try (TestRelay relay = TestRelay.start(data, window(10))) {
            for (int pipe = 1; pipe <= 5; pipe++) {
                try (BoundClient client = relay.bind("cold-" + pipe)) {
                    long startedNanos = System.nanoTime();
                    CompletableFuture<Void> publishing = relay.publishing("cold-" + pipe, 1, 1);
                    client.takeAndAck(1);
                    waits.add(Duration.ofNanos(System.nanoTime() - startedNanos));
                    publishing.get(30, TimeUnit.SECONDS);
                }
            }
        }
        // a loaded machine may hold up some of them, a relay that sleeps holds up all
        assertThat(waits).anyMatch(wait -> wait.toMillis() < 500);
    }

    @Test
    void theFirstEventAfterASilenceLeavesAtOnce() throws Exception {
        try (TestRelay relay = TestRelay.start(data, window(10)); // A09
                BoundClient client = relay.bind(PIPE)) {
            List<Duration> waits = new ArrayList<>();
            for (int event = 1; event <= 5; event++) {
                assertThat(client.within(Duration.ofMillis(300))).isNull();
                long startedNanos = System.nanoTime();
                CompletableFuture<Void> publishing = relay.publishing(PIPE, event, event);
                client.takeAndAck(1);
                waits.add(Duration.ofNanos(System.nanoTime() - startedNanos));
                publishing.get(30, TimeUnit.SECONDS);
            }
            assertThat(waits).anyMatch(wait -> wait.toMillis() < 50);
        }
    }

    @ParameterizedTest
    @ValueSource(bytes = {BrokenSerializer.NO_CLASS, BrokenSerializer.STACK, BrokenSerializer.NULL})
    void aSerializerThatBreaksRefusesThatEventAndTheNextOneIsFine(byte how) throws Exception {
        try (TestRelay relay = TestRelay.start(data, window(10)); // A20, A21
                BoundClient client = relay.bind(PIPE)) {
            CompletableFuture<Appended> broken = relay.publish(PIPE, "broken", ByteBuffer.wrap(new byte[] {how}));
            CompletableFuture<Appended> fine = relay.publish(PIPE, "broken", ByteBuffer.wrap(new byte[] {9}));

            assertThatThrownBy(() -> broken.get(30, TimeUnit.SECONDS)).hasCauseInstanceOf(RelayException.class);
            assertThat(fine.get(30, TimeUnit.SECONDS).firstId()).isEqualTo(1);
            assertThat(client.takeAndAck(1)).containsExactly(1L);
        }
    }

    @Test
    void anInterruptedTransferThreadGoesOnAndDoesNotSpin() throws Exception {
        int events = 5_000; // A22
        try (TestRelay relay = TestRelay.start(data, window(64));
                BoundClient client = relay.bind(PIPE)) {
            List<Thread> transferThreads = transferThreads();
            CompletableFuture<Void> publishing = relay.publishing(PIPE, 1, events);
            List<Long> delivered = new ArrayList<>();
            while (delivered.size() < events) {
                transferThreads.forEach(Thread::interrupt);
                delivered.addAll(client.takeAndAck(Math.min(500, events - delivered.size())));
            }

            assertThat(delivered).isEqualTo(ids(1, events));
            publishing.get(30, TimeUnit.SECONDS);
            transferThreads.forEach(Thread::interrupt);
            relay.awaitSettled(PIPE, events);
            long before = cpuNanos(transferThreads);
            assertThat(client.within(Duration.ofSeconds(1))).isNull();
            assertThat(Duration.ofNanos(cpuNanos(transferThreads) - before)).isLessThan(Duration.ofMillis(100));
            assertThat(transferThreads).isNotEmpty().allMatch(Thread::isAlive);
            assertThat(relay.status(PIPE).path("state").asText()).isEqualTo("OPEN");
        }
    }

    @Test
    void eventsOfManyThreadsAreDeliveredInTheOrderOfTheirIds() throws Exception {
        int threadCount = 8; // A27
        int eventsEach = 2_500;
        int events = threadCount * eventsEach;
        ExecutorService threads = Executors.newFixedThreadPool(threadCount);
        try (TestRelay relay = TestRelay.start(data, window(64));
                BoundClient client = relay.bind(PIPE)) {
            Map<Long, Long> confirmed = new ConcurrentHashMap<>();
            List<CompletableFuture<Void>> publishers = IntStream.range(0, threadCount)
                    .mapToObj(thread -> CompletableFuture.runAsync(
                            () -> publishEach(relay, thread * eventsEach, eventsEach, confirmed), threads))
                    .toList();
            Map<Long, Long> delivered = new HashMap<>();
            List<Long> order = new ArrayList<>();
            for (int i = 0; i < events; i++) {
                RawClient.Frame frame = client.event();
                client.ack(frame.eventId());
                order.add(frame.eventId());
                delivered.put(frame.eventId(), frame.event().getLong());
            }
            for (CompletableFuture<Void> publisher : publishers) {
                publisher.get(60, TimeUnit.SECONDS);
            }

            assertThat(order).isEqualTo(ids(1, events));
            assertThat(delivered).isEqualTo(confirmed);
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void aConsumerThatDoesNotReadHoldsUpNoOtherPipe() throws Exception {
        int events = 5_000; // BR-097, BR-100
        try (TestRelay relay = TestRelay.start(data, window(1_000));
                BoundClient blocked = relay.bind("blocked");
                BoundClient left = relay.bind("left");
                BoundClient right = relay.bind("right")) {
            List<CompletableFuture<Appended>> large = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                large.add(relay.publish("blocked", ByteBuffer.allocate(64 << 10)));
            }
            for (CompletableFuture<Appended> each : large) {
                each.get(30, TimeUnit.SECONDS);
            }
            // both transfer threads have a pipe that flows
            CompletableFuture<Void> publishing =
                    CompletableFuture.allOf(relay.publishing("left", 1, events), relay.publishing("right", 1, events));

            assertThat(left.takeAndAck(events)).isEqualTo(ids(1, events));
            assertThat(right.takeAndAck(events)).isEqualTo(ids(1, events));

            publishing.get(30, TimeUnit.SECONDS);
            assertThat(relay.status("blocked").path("inFlight").asInt()).isBetween(1, 199);
            assertThat(blocked.takeAndAck(200)).isEqualTo(ids(1, 200));
        }
    }

    @Test
    void pingsComeInTimeWhileTheWindowIsFullAndPublishersPress() throws Exception {
        Duration heartbeat = Duration.ofMillis(100); // B01
        Duration watched = Duration.ofSeconds(3);
        try (TestRelay relay = TestRelay.start(data, window(10), heartbeat, Duration.ofSeconds(20));
                BoundClient client = relay.bind(PIPE)) {
            client.raw().answerPings(false);
            CompletableFuture<Void> publishing = CompletableFuture.completedFuture(null);
            int published = 0;
            int pings = 0;
            long acked = 0;
            long endNanos = System.nanoTime() + watched.toNanos();
            while (System.nanoTime() - endNanos < 0) {
                if (published - acked < 500) {
                    publishing = relay.publishing(PIPE, published + 1, published + 500);
                    published += 500;
                }
                RawClient.Frame frame = client.raw().next(TestRelay.PATIENCE);
                if (frame.opcode() == RawClient.PING) {
                    pings++;
                } else {
                    assertThat(frame.eventId()).isEqualTo(++acked);
                    client.ack(acked);
                }
            }

            assertThat(acked).as("deliveries go on").isGreaterThan(500);
            assertThat(pings).isBetween(10, 31);
            publishing.get(30, TimeUnit.SECONDS);
        }
    }

    @Test
    void pipesThatAreMadeAllTheTimeHoldUpNoOther() throws Exception {
        int events = 2_000; // A07, without its deletions
        try (TestRelay relay = TestRelay.start(data, window(64));
                BoundClient client = relay.bind(PIPE)) {
            List<CompletableFuture<Void>> publishing = new ArrayList<>();
            for (int pipe = 1; pipe <= 100; pipe++) {
                publishing.add(relay.publishing("other-" + pipe, 1, 3));
                publishing.add(relay.publishing(PIPE, (pipe - 1) * 20 + 1, pipe * 20));
            }

            assertThat(client.takeAndAck(events)).isEqualTo(ids(1, events));
            CompletableFuture.allOf(publishing.toArray(CompletableFuture<?>[]::new))
                    .get(60, TimeUnit.SECONDS);
            relay.awaitSettled(PIPE, events);
        }
    }

    @Test
    void aStoppedRelayLeavesNoThread() throws Exception {
        for (int start = 1; start <= 2; start++) { // A16
            try (TestRelay relay = TestRelay.start(data, window(10));
                    BoundClient client = relay.bind(PIPE)) {
                relay.publish(PIPE, start, start);
                assertThat(client.takeAndAck(1)).containsExactly((long) start);
                relay.awaitSettled(PIPE, start);
            }
        }

        await("threads end").untilAsserted(() -> {
            assertThat(threads("relay-")).isEmpty();
            assertThat(threads("WebSocket")).isEmpty();
        });
    }

    private static void publishEach(TestRelay relay, int first, int count, Map<Long, Long> confirmed) {
        List<CompletableFuture<Void>> stored = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            long number = first + (long) i;
            stored.add(
                    relay.publish(PIPE, ByteBuffer.allocate(8).putLong(number).flip())
                            .thenAccept(appended -> confirmed.put(appended.firstId(), number)));
        }
        CompletableFuture.allOf(stored.toArray(CompletableFuture<?>[]::new)).join();
    }

    private static List<Thread> transferThreads() {
        return threads("relay-transfer-");
    }

    private static List<Thread> threads(String prefix) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith(prefix))
                .toList();
    }

    private static long cpuNanos(List<Thread> threads) {
        ThreadMXBean bean = ManagementFactory.getThreadMXBean();
        return threads.stream()
                .mapToLong(thread -> bean.getThreadCpuTime(thread.getId()))
                .sum();
    }
}
