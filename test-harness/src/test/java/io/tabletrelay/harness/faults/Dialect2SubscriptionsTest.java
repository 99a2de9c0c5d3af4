package io.tabletrelay.harness.faults;

import static io.tabletrelay.harness.faults.BoundClient.ids;
import static io.tabletrelay.harness.faults.TestRelay.PATIENCE;
import static io.tabletrelay.harness.faults.TestRelay.window;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.tabletrelay.core.client.RelayHttp;
import io.tabletrelay.harness.Dialect2Client;
import io.tabletrelay.harness.RelayProcess;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several subscriptions of one pipe, and what becomes of them. */
class Dialect2SubscriptionsTest {
    private static final String PIPE = "p";
    private static final Duration READY = Duration.ofSeconds(60);
    private static final Duration A_WHILE = Duration.ofMillis(200);

    @TempDir
    private Path data;

    @Test
    void eachSubscriptionBeginsWhereItWasAskedToAndOnlyOnce() throws Exception {
        try (TestRelay relay = TestRelay.start(data, window(10))) {
            relay.publish(PIPE, 1, 5);
            Instant published = Instant.now();
            await().until(() -> Instant.now().isAfter(published.plusMillis(4)));
            Instant between = published.plusMillis(2);
            relay.publish(PIPE, 6, 8);

            assertThat(firstNext(relay, "earliest")).isEqualTo(1);
            assertThat(firstNext(relay, "latest")).isEqualTo(9);
            assertThat(firstNext(relay, "4")).isEqualTo(4);
            assertThat(firstNext(relay, between.toString())).isEqualTo(6);
            try (Dialect2Client again = Dialect2Client.bound(relay.wsPort(), PIPE + "?subscription=4&start=earliest")) {
                assertThat(again.take(5)).isEqualTo(ids(4, 8));
            }
            try (Dialect2Client latest = Dialect2Client.bound(relay.wsPort(), PIPE + "?subscription=latest")) {
                assertThat(latest.within(A_WHILE)).isNull();
                relay.publish(PIPE, 9, 9);
                assertThat(latest.take(1)).isEqualTo(ids(9, 9));
            }
        }
    }

    private static long firstNext(TestRelay relay, String start) throws IOException {
        try (Dialect2Client client = Dialect2Client.connect(relay.wsPort())) {
            JsonNode ready = client.ask("BIND:" + PIPE + "?subscription=" + start + "&start=" + start);
            return ready.path("next").asLong();
        }
    }

    @Test
    void dialectOneAndTwoConsumeTheSamePipeSideBySideAndAKillForgetsNeithersAcks() throws Exception {
        int events = 200;
        try (RelayProcess killed = RelayProcess.serve(data)) {
            killed.awaitReady(READY);
            publishOverDialect2(killed, 1, events);
            try (BoundClient one = BoundClient.bind(killed.wsPort(), PIPE);
                    Dialect2Client two =
                            Dialect2Client.bound(killed.wsPort(), PIPE + "?subscription=two&confirm=acks&window=500");
                    Dialect2Client three = Dialect2Client.bound(killed.wsPort(), PIPE + "?subscription=three")) {
                assertThat(one.takeAndAck(50)).isEqualTo(ids(1, 50));
                assertThat(two.take(events)).isEqualTo(ids(1, events));
                assertThat(three.take(events)).isEqualTo(ids(1, events));
                two.line("ACK:1-99,150");
                while (!two.nextLine().contains("150")) {
                    // each confirms some
                }
                awaitFloor(killed, "default", 50);
                killed.kill();
            }
        }

        try (RelayProcess relay = RelayProcess.serve(data)) {
            relay.awaitReady(READY);
            try (BoundClient one = BoundClient.bind(relay.wsPort(), PIPE);
                    Dialect2Client two =
                            Dialect2Client.bound(relay.wsPort(), PIPE + "?subscription=two&start=latest&window=500");
                    Dialect2Client three = Dialect2Client.bound(relay.wsPort(), PIPE + "?subscription=three")) {
                assertThat(three.next().id()).isEqualTo(1);
                assertThat(two.take(50)).isEqualTo(ids(100, 149));
                Dialect2Client.Received next = two.next();
                assertThat(next.id()).isEqualTo(151);
                assertThat(next.delivery()).isGreaterThan(1);
                two.take(49);
                assertThat(one.takeAndAck(150)).isEqualTo(ids(51, events));
                two.line("ACKTO:" + events);
                awaitFloor(relay, "default", events);
                awaitFloor(relay, "two", events);
                awaitFloor(relay, "three", 0);
            }
        }
    }

    @Test
    void aResetBringsEverythingAgainAndADeletedSubscriptionEndsItsConsumer() throws Exception {
        try (TestRelay relay = TestRelay.start(data, window(10));
                Dialect2Client other = Dialect2Client.bound(relay.wsPort(), PIPE + "?subscription=other")) {
            relay.publish(PIPE, 1, 5);
            other.take(5);
            Dialect2Client client = Dialect2Client.bound(relay.wsPort(), PIPE + "?subscription=s");
            client.take(5);
            client.line("ACKTO:5");
            client.line("UNBIND");
            assertThat(client.nextLine()).isEqualTo("UNBOUND");
            awaitFloor(relay.http(), "s", 5);

            relay.http().resetSubscription(PIPE, "s", "3");
            client.ask("BIND:" + PIPE + "?subscription=s");
            assertThat(client.take(3)).isEqualTo(ids(3, 5));
            client.line("UNBIND");
            assertThat(client.nextLine()).isEqualTo("UNBOUND");
            relay.http().deleteSubscription(PIPE, "s");

            JsonNode ready = client.ask("BIND:" + PIPE + "?subscription=s");
            assertThat(ready.path("next").asLong()).isEqualTo(1);
            assertThat(client.take(5)).isEqualTo(ids(1, 5));
            other.line("ACKTO:5");
            awaitFloor(relay.http(), "other", 5);
            client.close();
        }
    }

    @Test
    void aDeletedPipeClosesItsConsumersAndTheNewOneGoesOnAboveIt() throws Exception {
        try (TestRelay relay = TestRelay.start(data, window(10)); // A28, A29, A30
                Dialect2Client slow = Dialect2Client.bound(relay.wsPort(), PIPE);
                Dialect2Client client = Dialect2Client.bound(relay.wsPort(), PIPE + "?subscription=s")) {
            relay.publish(PIPE, 1, 5);
            client.take(5);
            long epoch = relay.status(PIPE).path("epoch").asLong();
            relay.http().deletePipe(PIPE, null);
            assertThat(client.nextCloseCode()).isEqualTo(4410);
            client.line("ACKTO:5");
            assertThat(slow.nextCloseCode()).isEqualTo(4410);

            relay.publish(PIPE, 6, 7);
            try (Dialect2Client next = Dialect2Client.connect(relay.wsPort())) {
                JsonNode ready = next.ask("BIND:" + PIPE + "?subscription=s");

                assertThat(ready.path("epoch").asLong()).isNotEqualTo(epoch);
                Dialect2Client.Received first = next.next();
                assertThat(first.id()).isGreaterThan(5);
                assertThat(first.payload().getLong(0)).isEqualTo(6);
                assertThat(next.next().id()).isEqualTo(first.id() + 1);
            }
        }
    }

    /** A30: 20 MiB are on their way to who takes none of it. */
    @Test
    void aPipeIsDeletedAtOnceThoughItsConsumerReadsNothing() throws Exception {
        try (TestRelay relay = TestRelay.start(data, window(10));
                Dialect2Client stalled = Dialect2Client.bound(relay.wsPort(), PIPE + "?window-bytes=1073741824")) {
            for (int i = 0; i < 20; i++) {
                relay.publish(PIPE, ByteBuffer.allocate(1 << 20)).get();
            }
            long startNanos = System.nanoTime();
            relay.http().deletePipe(PIPE, null);

            assertThat(Duration.ofNanos(System.nanoTime() - startNanos)).isLessThan(Duration.ofSeconds(10));
            relay.publish(PIPE, 21, 21);
            try (Dialect2Client next = Dialect2Client.bound(relay.wsPort(), PIPE)) {
                assertThat(next.next().payload().getLong(0)).isEqualTo(21);
            }
            stalled.reset();
        }
    }

    /** B26: what is sent to one is never changed by what is sent to another. */
    @Test
    void whoeverConsumesGetsTheSameBytesAlsoTheSecondTime() throws Exception {
        int events = 300;
        byte[] body = new byte[700];
        new Random(1).nextBytes(body);
        try (TestRelay relay = TestRelay.start(data, window(10))) {
            for (int i = 1; i <= events; i++) {
                relay.publish(PIPE, ByteBuffer.wrap(body.clone()).putInt(0, i)).get();
            }
            List<Dialect2Client> clients = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                clients.add(
                        Dialect2Client.bound(relay.wsPort(), PIPE + "?batch=" + (1 + 20 * i) + "&subscription=s" + i));
            }
            for (int delivery = 1; delivery <= 2; delivery++) {
                for (Dialect2Client client : clients) {
                    for (int i = 1; i <= events; i++) {
                        Dialect2Client.Received event = client.next();
                        assertThat(event.payload())
                                .isEqualTo(ByteBuffer.wrap(body.clone()).putInt(0, (int) event.id()));
                        assertThat(event.delivery()).isEqualTo(delivery);
                        client.line((delivery == 1 ? "NACK:" : "ACK:") + event.id());
                    }
                }
            }
            for (Dialect2Client client : clients) {
                client.close();
            }
        }
    }

    @Test
    void aPausedPipeSendsNothingAndTakesAcksAndGoesOn() throws Exception {
        try (TestRelay relay = TestRelay.start(data, window(10));
                Dialect2Client client = Dialect2Client.bound(relay.wsPort(), PIPE + "?window=3")) {
            relay.publish(PIPE, 1, 6);
            client.take(3);
            relay.http().changePipe(PIPE, "pause", null);
            client.line("ACKTO:2");
            client.line("NACK:3:0");
            relay.awaitStatus(PIPE, "floor", 2);
            assertThat(client.within(A_WHILE)).isNull();

            relay.http().changePipe(PIPE, "resume", null);
            assertThat(client.take(3)).containsExactlyInAnyOrder(3L, 4L, 5L);
            client.line("ACKTO:5");
            assertThat(client.take(1)).isEqualTo(ids(6, 6));
        }
    }

    private static void publishOverDialect2(RelayProcess relay, int first, int last) throws IOException {
        try (Dialect2Client producer = Dialect2Client.publishing(relay.wsPort(), PIPE + "?type=bytes")) {
            for (int number = first; number <= last; number++) {
                producer.publish(
                        number - first + 1,
                        ByteBuffer.allocate(8).putLong(number).array());
            }
            producer.line("UNBIND"); // no consumer: told, and changes nothing
            while (!producer.nextLine().equals("STORED:" + (last - first + 1))) {
                // each confirms some
            }
        }
    }

    private static void awaitFloor(RelayProcess relay, String subscription, long floor) {
        awaitFloor(new RelayHttp(relay.http()), subscription, floor);
    }

    private static void awaitFloor(RelayHttp http, String subscription, long floor) {
        await(subscription + " is settled up to " + floor)
                .atMost(PATIENCE)
                .until(() -> floors(http).getOrDefault(subscription, -1L), found -> found == floor);
    }

    private static Map<String, Long> floors(RelayHttp http) throws Exception {
        Map<String, Long> floors = new HashMap<>();
        for (JsonNode each : http.subscriptions(PIPE).path("subscriptions")) {
            floors.put(each.path("name").asText(), each.path("floor").asLong());
        }
        return floors;
    }
}
