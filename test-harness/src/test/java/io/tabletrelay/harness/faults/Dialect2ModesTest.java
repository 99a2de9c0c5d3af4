package io.tabletrelay.harness.faults;

import static io.tabletrelay.harness.faults.BoundClient.ids;
import static io.tabletrelay.harness.faults.TestRelay.PATIENCE;
import static io.tabletrelay.harness.faults.TestRelay.delivery;
import static io.tabletrelay.harness.faults.TestRelay.window;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.tabletrelay.core.config.RedeliveryConfig;
import io.tabletrelay.harness.Dialect2Client;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several connections of dialect 2 that want one subscription. */
class Dialect2ModesTest {
    private static final String PIPE = "p";
    private static final Duration A_WHILE = Duration.ofMillis(200);

    private final ExecutorService threads = Executors.newCachedThreadPool();

    @TempDir
    private Path data;

    @AfterEach
    void endThreads() {
        threads.shutdownNow();
    }

    @Test
    void aHolderThatLivesKeepsItsSubscriptionAndTheNewcomerIsToldAndClosed() throws Exception {
        Duration probe = Duration.ofMillis(300); // A11
        try (TestRelay relay = TestRelay.start(data, delivery(10, probe, RedeliveryConfig.DEFAULT));
                Dialect2Client holder = Dialect2Client.bound(relay.wsPort(), PIPE);
                Dialect2Client newcomer = Dialect2Client.connect(relay.wsPort())) {
            newcomer.line("BIND:" + PIPE);
            CompletableFuture<Integer> closed = CompletableFuture.supplyAsync(() -> closeCode(newcomer), threads);
            await().atMost(PATIENCE).until(() -> {
                holder.within(Duration.ofMillis(20)); // which answers the probe
                return closed.isDone();
            });
            relay.publish(PIPE, 1, 1);

            assertThat(newcomer.nextLine()).startsWith("ERROR:").contains("PIPE_BUSY");
            assertThat(closed.get()).isEqualTo(4000);
            assertThat(holder.take(1)).isEqualTo(ids(1, 1));
        }
    }

    @Test
    void aHolderThatAnswersNothingIsTakenOverWithItsCode() throws Exception {
        Duration probe = Duration.ofMillis(300);
        try (TestRelay relay = TestRelay.start(data, delivery(10, probe, RedeliveryConfig.DEFAULT));
                Dialect2Client dead = Dialect2Client.bound(relay.wsPort(), PIPE)) {
            relay.publish(PIPE, 1, 3);
            dead.take(3);
            dead.raw().answerPings(false);

            try (Dialect2Client next = Dialect2Client.bound(relay.wsPort(), PIPE)) {
                assertThat(next.next().delivery()).isEqualTo(2);
                next.take(2);
                dead.line("ACK:1-3"); // late, and counts
                relay.awaitSettled(PIPE, 3);
                dead.raw().answerPings(true);
            }
        }
    }

    @Test
    void aTakeoverIsImmediateAndTheOldHolderIsToldAndItsAnswersButAcksAreVoid() throws Exception {
        try (TestRelay relay = TestRelay.start(data, window(10));
                Dialect2Client old = Dialect2Client.bound(relay.wsPort(), PIPE)) {
            relay.publish(PIPE, 1, 5);
            assertThat(old.take(5)).isEqualTo(ids(1, 5));
            try (Dialect2Client next = Dialect2Client.bound(relay.wsPort(), PIPE + "?mode=takeover")) {
                assertThat(next.take(5)).isEqualTo(ids(1, 5));
                assertThat(old.nextCloseCode()).isEqualTo(4409);
                next.line("ACKTO:5");
                relay.awaitSettled(PIPE, 5);
            }
        }
    }

    @Test
    void whoStandsByIsBoundInItsTurnOnceTheHolderGoes() throws Exception {
        try (TestRelay relay = TestRelay.start(data, window(10));
                Dialect2Client first = Dialect2Client.bound(relay.wsPort(), PIPE);
                Dialect2Client second = Dialect2Client.connect(relay.wsPort());
                Dialect2Client third = Dialect2Client.connect(relay.wsPort())) {
            relay.publish(PIPE, 1, 2);
            first.take(2);
            second.line("BIND:" + PIPE + "?mode=standby");
            assertThat(second.lineWithin(A_WHILE)).isNull();
            third.line("BIND:" + PIPE + "?mode=standby");
            assertThat(third.lineWithin(A_WHILE)).isNull();

            first.reset();
            assertThat(second.nextLine()).startsWith("READY:");
            assertThat(second.take(2)).isEqualTo(ids(1, 2));
            assertThat(third.lineWithin(A_WHILE)).isNull();
            second.line("UNBIND");
            assertThat(second.nextLine()).isEqualTo("UNBOUND");

            assertThat(third.nextLine()).startsWith("READY:");
            assertThat(third.take(2)).isEqualTo(ids(1, 2));
            third.line("ACKTO:2");
            relay.awaitSettled(PIPE, 2);
        }
    }

    @Test
    void whoStandsByAndGoesIsNeverBound() throws Exception {
        try (TestRelay relay = TestRelay.start(data, window(10));
                Dialect2Client holder = Dialect2Client.bound(relay.wsPort(), PIPE)) {
            for (int i = 0; i < 20; i++) {
                Dialect2Client gone = Dialect2Client.connect(relay.wsPort());
                gone.line("BIND:" + PIPE + "?mode=standby");
                gone.reset();
            }
            holder.line("UNBIND");
            assertThat(holder.nextLine()).isEqualTo("UNBOUND");
            relay.publish(PIPE, 1, 1);

            relay.awaitUnbound(PIPE);
            holder.ask("BIND:" + PIPE);
            assertThat(holder.take(1)).isEqualTo(ids(1, 1));
        }
    }

    @Test
    void aSharedSubscriptionAndAnExclusiveOneDoNotMix() throws Exception {
        try (TestRelay relay = TestRelay.start(data, window(10));
                Dialect2Client holder = Dialect2Client.bound(relay.wsPort(), PIPE + "?mode=shared");
                Dialect2Client other = Dialect2Client.bound(relay.wsPort(), PIPE + "?mode=shared");
                Dialect2Client exclusive = Dialect2Client.connect(relay.wsPort());
                Dialect2Client strict = Dialect2Client.connect(relay.wsPort())) {
            strict.line("BIND:" + PIPE + "?mode=shared&order=strict");
            assertThat(strict.nextLine()).contains("BAD_OPTION");
            exclusive.line("BIND:" + PIPE + "?mode=takeover");
            assertThat(exclusive.nextLine()).startsWith("READY:");

            assertThat(holder.nextCloseCode()).isEqualTo(4409);
            assertThat(other.nextCloseCode()).isEqualTo(4409);
        }
    }

    /** Who holds an event holds it alone. */
    @Test
    void noEventIsEverWithTwoConnectionsOfASharedSubscription() throws Exception {
        int events = 4_000;
        Map<Long, Integer> holders = new ConcurrentHashMap<>();
        List<String> faults = new ArrayList<>();
        AtomicBoolean over = new AtomicBoolean();
        try (TestRelay relay = TestRelay.start(data, window(10))) {
            List<CompletableFuture<Void>> consumers = new ArrayList<>();
            for (int n = 1; n <= 3; n++) {
                int number = n;
                consumers.add(CompletableFuture.runAsync(
                        () -> share(relay.wsPort(), number, holders, faults, over), threads));
            }
            relay.publish(PIPE, 1, events);
            relay.awaitSettled(PIPE, events);
            over.set(true);
            for (CompletableFuture<Void> consumer : consumers) {
                consumer.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            }
        }
        assertThat(faults).isEmpty();
    }

    /** Takes, refuses, acks and unbinds at random; says before each answer that it holds the event no longer. */
    private static void share(
            int port, int number, Map<Long, Integer> holders, List<String> faults, AtomicBoolean over) {
        Random random = new Random(number);
        try (Dialect2Client client = Dialect2Client.bound(port, PIPE + "?mode=shared&window=20&batch=7")) {
            while (!over.get()) {
                Dialect2Client.Received event = client.within(Duration.ofMillis(20));
                if (event == null) {
                    continue;
                }
                Integer other = holders.put(event.id(), number);
                if (other != null) {
                    synchronized (faults) {
                        faults.add("event " + event.id() + " is with " + other + " and " + number);
                    }
                }
                holders.remove(event.id());
                int answer = random.nextInt(20);
                client.line(answer == 0 ? "NACK:" + event.id() + ":0" : "ACK:" + event.id());
            }
        } catch (IOException e) {
            synchronized (faults) {
                faults.add(e.toString());
            }
        }
    }

    private static int closeCode(Dialect2Client client) {
        try {
            return client.nextCloseCode();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
