package io.tabletrelay.harness.faults;

import static io.tabletrelay.harness.faults.BoundClient.ids;
import static io.tabletrelay.harness.faults.TestRelay.NEVER;
import static io.tabletrelay.harness.faults.TestRelay.delivery;
import static io.tabletrelay.harness.faults.TestRelay.window;
import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.harness.RawClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of events and acks when connections come and go. */
class LostConnectionTest {
    private static final String PIPE = "p";
    private static final Duration A_WHILE = Duration.ofMillis(200);

    @TempDir
    private Path data;

    @Test
    void everyEventIsDeliveredOnceThoughItsAckComesAtOnce() throws Exception {
        int events = 50_000; // A01
        try (TestRelay relay = TestRelay.start(data, window(64));
                BoundClient client = relay.bind(PIPE)) {
            CompletableFuture<Void> publishing = relay.publishing(PIPE, 1, events);

            List<Long> delivered = client.takeAndAck(events);

            assertThat(delivered).isEqualTo(ids(1, events));
            publishing.get(30, TimeUnit.SECONDS);
            relay.awaitSettled(PIPE, events);
            assertThat(client.within(A_WHILE)).isNull();
        }
    }

    @Test
    void whatAResetConnectionHeldComesBeforeAnythingNew() throws Exception {
        try (TestRelay relay = TestRelay.start(data, window(10))) { // A02
            BoundClient first = relay.bind(PIPE);
            relay.publish(PIPE, 1, 5);
            first.take(5);
            first.ack(1);
            first.ack(3);
            relay.awaitStatus(PIPE, "settled", 2);
            first.reset();
            relay.publish(PIPE, 6, 7);

            try (BoundClient second = relay.bind(PIPE)) {
                assertThat(second.takeAndAck(5)).containsExactly(2L, 4L, 5L, 6L, 7L);
                relay.awaitSettled(PIPE, 7);
                assertThat(second.within(A_WHILE)).isNull();
            }
        }
    }

    @Test
    void anAckOnTheNextConnectionCountsForWhatTheEarlierOneGot() throws Exception {
        int rounds = 30; // BR-047; many, since an ack ahead of its BIND races with the first delivery
        try (TestRelay relay = TestRelay.start(data, window(10))) {
            for (int last = 3; last <= 3 * rounds; last += 3) {
                BoundClient first = relay.bind(PIPE);
                relay.publish(PIPE, last - 2, last);
                first.take(3);
                first.reset();

                try (BoundClient second = BoundClient.bind(relay.wsPort(), PIPE, last - 2, last - 1)) {
                    assertThat(second.takeAndAck(1)).containsExactly((long) last);
                    relay.awaitSettled(PIPE, last);
                }
            }
        }
    }

    @Test
    void anAckOfWhatWasNeverDeliveredSettlesNothing() throws Exception {
        try (TestRelay relay = TestRelay.start(data, window(10)); // A05
                BoundClient client = relay.bind(PIPE)) {
            relay.publish(PIPE, 1, 20);
            List<Long> first = client.take(10);
            client.ack(15);
            client.ack(21);
            client.ack(-1);
            client.ack(first);

            List<Long> rest = client.takeAndAck(10);

            assertThat(first).isEqualTo(ids(1, 10));
            assertThat(rest).isEqualTo(ids(11, 20));
            relay.awaitSettled(PIPE, 20);
        }
    }

    @Test
    void aClientThatDiedBeforeItsFirstAckGetsEverythingAgainInOrder() throws Exception {
        try (TestRelay relay = TestRelay.start(data, window(20))) { // BR-049, BR-059
            relay.publish(PIPE, 1, 50);
            BoundClient first = relay.bind(PIPE);
            List<Long> got = first.take(20);
            first.close();

            try (BoundClient second = relay.bind(PIPE)) {
                List<Long> again = second.takeAndAck(50);

                assertThat(got).isEqualTo(ids(1, 20));
                assertThat(again).isEqualTo(ids(1, 50));
            }
        }
    }

    @Test
    void whatWasWrittenAndNeverReadComesAgain() throws Exception {
        try (TestRelay relay = TestRelay.start(data, window(10))) { // BR-054
            relay.publish(PIPE, 1, 10);
            BoundClient first = relay.bind(PIPE);
            relay.awaitStatus(PIPE, "inFlight", 10);
            first.reset();

            try (BoundClient second = relay.bind(PIPE)) {
                assertThat(second.takeAndAck(10)).isEqualTo(ids(1, 10));
            }
        }
    }

    @Test
    void anEventThatMeetsAClosingSocketIsNeverTakenForDelivered() throws Exception {
        int rounds = 60; // A06
        int events = 3 * rounds;
        try (TestRelay relay = TestRelay.start(data, delivery(10, NEVER, Duration.ofMillis(20), 0))) {
            List<CompletableFuture<Void>> publishing = new ArrayList<>();
            for (int round = 0; round < rounds; round++) {
                BoundClient client = relay.bind(PIPE);
                publishing.add(relay.publishing(PIPE, 3 * round + 1, 3 * round + 3));
                client.reset();
            }
            CompletableFuture.allOf(publishing.toArray(CompletableFuture<?>[]::new))
                    .get(30, TimeUnit.SECONDS);

            try (BoundClient last = relay.bind(PIPE)) {
                // one that was alone on lost connections waits a little longer each time
                assertThat(last.takeAndAck(events)).containsExactlyInAnyOrderElementsOf(ids(1, events));
                relay.awaitSettled(PIPE, events);
            }
        }
    }

    @Test
    void eachOfTenRunsOfAKilledClientGetsWhatIsNotAckedYet() throws Exception {
        int events = 200; // BR-068
        long seed = System.nanoTime();
        Random random = new Random(seed);
        try (TestRelay relay = TestRelay.start(data, window(20))) {
            relay.publish(PIPE, 1, events);
            TreeSet<Long> unacked = new TreeSet<>(ids(1, events));
            for (int run = 1; run <= 10; run++) {
                BoundClient client = relay.bind(PIPE);
                List<Long> got = client.take(20);
                assertThat(got)
                        .as("run %d, seed %d", run, seed)
                        .isEqualTo(unacked.stream().limit(20).toList());
                Collections.shuffle(got, random);
                List<Long> acks = got.subList(0, 13);
                client.ack(acks);
                acks.forEach(unacked::remove);
                relay.awaitStatus(PIPE, "settled", events - unacked.size());
                client.reset();
                relay.awaitUnbound(PIPE);
            }

            try (BoundClient last = relay.bind(PIPE)) {
                assertThat(last.takeAndAck(unacked.size())).isEqualTo(List.copyOf(unacked));
                relay.awaitSettled(PIPE, events);
            }
        }
    }

    @Test
    void twoPipesServeTheirConsumersAtTheSameTimeAndKeepThemThroughSilence() throws Exception {
        int events = 2_000; // BR-069
        Duration heartbeat = Duration.ofMillis(200);
        try (TestRelay relay = TestRelay.start(data, window(10), heartbeat, Duration.ofSeconds(20));
                BoundClient left = relay.bind("left");
                BoundClient right = relay.bind("right")) {
            CompletableFuture<Void> publishing =
                    CompletableFuture.allOf(relay.publishing("left", 1, events), relay.publishing("right", 1, events));
            CompletableFuture<List<Long>> leftGot = CompletableFuture.supplyAsync(() -> drain(left, events));
            CompletableFuture<List<Long>> rightGot = CompletableFuture.supplyAsync(() -> drain(right, events));

            assertThat(leftGot.get(60, TimeUnit.SECONDS)).isEqualTo(ids(1, events));
            assertThat(rightGot.get(60, TimeUnit.SECONDS)).isEqualTo(ids(1, events));
            publishing.get(30, TimeUnit.SECONDS);
            left.raw().answerPings(false);
            RawClient.Frame ping = left.raw().next(TestRelay.PATIENCE);
            assertThat(ping.opcode()).as("silence is filled with pings").isEqualTo(RawClient.PING);
            relay.publish("right", events + 1, events + 1);
            assertThat(right.takeAndAck(1)).containsExactly(events + 1L);
        }
    }

    private static List<Long> drain(BoundClient client, int events) {
        try {
            return client.takeAndAck(events);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
