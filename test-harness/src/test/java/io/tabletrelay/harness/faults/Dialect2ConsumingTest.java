package io.tabletrelay.harness.faults;

import static io.tabletrelay.harness.faults.BoundClient.ids;
import static io.tabletrelay.harness.faults.TestRelay.PATIENCE;
import static io.tabletrelay.harness.faults.TestRelay.window;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.groups.Tuple.tuple;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.tabletrelay.harness.Dialect2Client;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A consumer of dialect 2 on a whole relay. */
class Dialect2ConsumingTest {
    private static final String PIPE = "p";
    private static final Duration A_WHILE = Duration.ofMillis(200);

    @TempDir
    private Path data;

    @Test
    void readySaysWhatWasBoundAndEachRecordWhatItIs() throws Exception {
        long beforeMillis = Instant.now().toEpochMilli();
        try (TestRelay relay = TestRelay.start(data, window(10));
                Dialect2Client client = Dialect2Client.connect(relay.wsPort())) {
            String pipe = "a pipe?&=%+ü";
            relay.publish(pipe, 1, 3);

            JsonNode ready = client.ask("BIND:a%20pipe%3F%26%3D%25%2B%C3%BC?subscription=s%26t&start=2&window=7"
                    + "&window-bytes=1000&batch=5&order=strict&mode=takeover&headers=1&confirm=acks");
            Dialect2Client.Received first = client.next();

            assertThat(ready.path("pipe").asText()).isEqualTo(pipe);
            assertThat(ready.path("subscription").asText()).isEqualTo("s&t");
            assertThat(ready.path("epoch").asLong())
                    .isEqualTo(relay.status(pipe).path("epoch").asLong(-1));
            assertThat(ready.path("next").asLong()).isEqualTo(2);
            assertThat(ready.path("backlog").asLong()).isEqualTo(2);
            assertThat(ready.path("window").asLong()).isEqualTo(7);
            assertThat(ready.path("order").asText()).isEqualTo("strict");
            assertThat(ready.path("durability").asText()).isEqualTo("process");
            assertThat(ready.has("contentType")).isTrue();
            assertThat(first.id()).isEqualTo(2);
            assertThat(first.delivery()).isEqualTo(1);
            assertThat(first.appendedAtMillis())
                    .isBetween(beforeMillis, Instant.now().toEpochMilli());
            assertThat(first.payload().getLong(0)).isEqualTo(2);
            assertThat(client.next().id()).isEqualTo(3);
            assertThat(client.within(A_WHILE)).isNull();
        }
    }

    @Test
    void aBacklogComesInBatchesOfTheSizeThatWasAskedForUpToTheWindow() throws Exception {
        int events = 500; // B14, B15
        try (TestRelay relay = TestRelay.start(data, window(10))) {
            relay.publish(PIPE, 1, events);
            try (Dialect2Client client = Dialect2Client.bound(relay.wsPort(), PIPE + "?batch=50&window=400")) {
                List<Long> received = new ArrayList<>();
                List<Integer> sizes = new ArrayList<>();
                while (received.size() < 400) {
                    List<Dialect2Client.Received> batch = client.nextBatch();
                    sizes.add(batch.size());
                    batch.forEach(each -> received.add(each.id()));
                }

                assertThat(received).isEqualTo(ids(1, 400));
                assertThat(sizes).allMatch(size -> size <= 50).contains(50);
                assertThat(client.within(A_WHILE)).isNull();
                client.line("ACKTO:400");
                assertThat(client.take(100)).isEqualTo(ids(401, 500));
                client.line("ACKTO:500");
                relay.awaitSettled(PIPE, events);
            }
        }
    }

    @Test
    void largeEventsNeverShareAFrameOfMoreThan256KiBAndTheWindowCountsTheirBytes() throws Exception {
        int size = 100 << 10;
        try (TestRelay relay = TestRelay.start(data, window(10))) {
            for (int i = 1; i <= 12; i++) {
                relay.publish(PIPE, ByteBuffer.allocate(size)).get();
            }
            relay.publish(PIPE, ByteBuffer.allocate(1 << 20)).get();
            try (Dialect2Client client = Dialect2Client.bound(relay.wsPort(), PIPE + "?window-bytes=" + 5 * size)) {
                List<Long> got = new ArrayList<>();
                while (got.size() < 5) {
                    List<Dialect2Client.Received> batch = client.nextBatch();
                    assertThat(batch).hasSizeLessThanOrEqualTo(2);
                    batch.forEach(each -> got.add(each.id()));
                }
                assertThat(client.within(A_WHILE)).isNull();

                client.line("ACKTO:5");
                assertThat(client.take(5)).isEqualTo(ids(6, 10));
                client.line("ACKTO:10");
                client.take(2);
                client.line("ACKTO:12");
                Dialect2Client.Received large = client.next();

                assertThat(large.id()).isEqualTo(13);
                assertThat(large.payload().remaining()).isEqualTo(1 << 20);
                client.line("ACK:13");
                relay.awaitSettled(PIPE, 13);
            }
        }
    }

    @Test
    void headersComeWhereTheyWereAskedForAndNowhereElse() throws Exception {
        try (TestRelay relay = TestRelay.start(data, window(10));
                Dialect2Client with = Dialect2Client.bound(relay.wsPort(), PIPE + "?headers=1&subscription=with");
                Dialect2Client without = Dialect2Client.bound(relay.wsPort(), PIPE + "?subscription=without");
                Dialect2Client producer = Dialect2Client.publishing(relay.wsPort(), PIPE + "?type=bytes&headers=1")) {
            byte[] headers = "{\"trace\":\"1ü\"}".getBytes(StandardCharsets.UTF_8);
            producer.publish(
                    1,
                    ByteBuffer.allocate(4 + headers.length + 2)
                            .putInt(headers.length)
                            .put(headers)
                            .put(new byte[] {'h', 'i'})
                            .array());
            assertThat(producer.nextLine()).isEqualTo("STORED:1");

            Dialect2Client.Received full = with.next();
            Dialect2Client.Received bare = without.next();

            assertThat(full.flags()).isEqualTo(1);
            assertThat(full.headers()).contains("\"trace\":\"1ü\"");
            assertThat(full.text()).isEqualTo("hi");
            assertThat(bare.flags()).isZero();
            assertThat(bare.text()).isEqualTo("hi");
        }
    }

    @Test
    void listsAndRangesSettleExactlyWhatTheyName() throws Exception {
        try (TestRelay relay = TestRelay.start(data, window(10))) {
            relay.publish(PIPE, 1, 30);
            try (Dialect2Client client = Dialect2Client.bound(relay.wsPort(), PIPE + "?confirm=acks")) {
                client.take(30);
                client.line("ACK:2,5-9,30");

                Set<Long> confirmed = confirmedIds(client, 7);

                assertThat(confirmed).containsExactly(2L, 5L, 6L, 7L, 8L, 9L, 30L);
                relay.awaitStatus(PIPE, "settled", 7);
                client.line("ACK:9-5");
                assertThat(client.nextLine()).contains("BAD_LINE");
                client.line("ACK:1-4,10-4611686018427387904");
                relay.awaitSettled(PIPE, 30);
            }
        }
    }

    /** A05, BR-050. */
    @Test
    void ackToSettlesOnlyWhatWasSentOnThatConnection() throws Exception {
        try (TestRelay relay = TestRelay.start(data, window(10))) {
            relay.publish(PIPE, 1, 10);
            try (Dialect2Client first = Dialect2Client.bound(relay.wsPort(), PIPE + "?mode=shared&window=5")) {
                assertThat(first.take(5)).isEqualTo(ids(1, 5));
                try (Dialect2Client second = Dialect2Client.bound(relay.wsPort(), PIPE + "?mode=shared&window=5")) {
                    assertThat(second.take(5)).isEqualTo(ids(6, 10));
                    second.line("ACKTO:1000");
                    relay.awaitStatus(PIPE, "settled", 5);
                    assertThat(relay.status(PIPE).path("floor").asLong(-1)).isZero();
                    first.line("NACK:3:300000");
                    first.line("ACKTO:5");
                    relay.awaitStatus(PIPE, "settled", 9);
                    assertThat(relay.status(PIPE).path("floor").asLong()).isEqualTo(2);
                }
            }
        }
    }

    @Test
    void whatWasNackedComesAfterItsDelayAsTheSecondDelivery() throws Exception {
        try (TestRelay relay = TestRelay.start(data, window(10))) {
            relay.publish(PIPE, 1, 3);
            try (Dialect2Client client = Dialect2Client.bound(relay.wsPort(), PIPE)) {
                client.take(3);
                long sentNanos = System.nanoTime();
                client.line("NACK:2:700:the sink is: down");
                client.line("NACK:1");
                client.line("ERROR:3");

                List<Dialect2Client.Received> soon = List.of(client.next(), client.next());
                await().atMost(PATIENCE).until(() -> get(relay, "/events/2"), state -> state.contains("sink is: down"));
                Dialect2Client.Received later = client.next();

                assertThat(soon)
                        .extracting(Dialect2Client.Received::id, Dialect2Client.Received::delivery)
                        .containsExactlyInAnyOrder(tuple(1L, 2), tuple(3L, 2));
                assertThat(later.id()).isEqualTo(2);
                assertThat(later.delivery()).isEqualTo(2);
                assertThat(Duration.ofNanos(System.nanoTime() - sentNanos)).isGreaterThan(Duration.ofMillis(690));
                client.line("ACKTO:3");
                relay.awaitSettled(PIPE, 3);
            }
        }
    }

    @Test
    void aTermIsADeadLetterAtOnceWithItsReason() throws Exception {
        try (TestRelay relay = TestRelay.start(data, window(10))) {
            relay.publish(PIPE, 1, 2);
            try (Dialect2Client client = Dialect2Client.bound(relay.wsPort(), PIPE)) {
                client.take(2);
                client.line("TERM:1:no such column: x");
                relay.awaitStatus(PIPE, "deadLetters", 1);
                client.line("ACK:2");
                relay.awaitSettled(PIPE, 2);

                assertThat(get(relay, "/dead-letters")).contains("no such column: x");
                assertThat(client.within(A_WHILE)).isNull();
            }
        }
    }

    @Test
    void holdRestartsTheDeadlineOfAnEventAndOfNoOther() throws Exception {
        Duration ackTimeout = Duration.ofMillis(800);
        try (TestRelay relay = TestRelay.start(data, TestRelay.delivery(10, ackTimeout, Duration.ofMillis(10), 100))) {
            relay.publish(PIPE, 1, 2);
            try (Dialect2Client client = Dialect2Client.bound(relay.wsPort(), PIPE)) {
                assertThat(client.take(2)).isEqualTo(ids(1, 2));
                long endNanos = System.nanoTime() + ackTimeout.multipliedBy(3).toNanos();
                Set<Long> again = new TreeSet<>();
                while (System.nanoTime() < endNanos) {
                    client.line("HOLD:1");
                    Dialect2Client.Received event = client.within(Duration.ofMillis(100));
                    if (event != null) {
                        again.add(event.id());
                    }
                }

                assertThat(again).containsExactly(2L);
                client.line("ACKTO:2");
                relay.awaitSettled(PIPE, 2);
            }
        }
    }

    @Test
    void aWindowOfNothingPausesAndALargerOneGoesOn() throws Exception {
        try (TestRelay relay = TestRelay.start(data, window(10));
                Dialect2Client client = Dialect2Client.bound(relay.wsPort(), PIPE + "?window=2")) {
            relay.publish(PIPE, 1, 20);
            assertThat(client.take(2)).isEqualTo(ids(1, 2));
            client.line("WINDOW:0");
            client.line("ACKTO:2");
            relay.awaitStatus(PIPE, "floor", 2);
            assertThat(client.within(A_WHILE)).isNull();

            client.line("WINDOW:5");
            assertThat(client.take(5)).isEqualTo(ids(3, 7));
            assertThat(client.within(A_WHILE)).isNull();
            client.line("WINDOW:1");
            client.line("ACK:3");
            assertThat(client.within(A_WHILE)).isNull();
            client.line("WINDOW:65536");
            assertThat(client.take(13)).isEqualTo(ids(8, 20));
            client.line("WINDOW:65537");
            assertThat(client.nextLine()).contains("BAD_LINE");
        }
    }

    @Test
    void afterUnbindNothingComesAndTheNextBindGetsBackWhatWasHeld() throws Exception {
        try (TestRelay relay = TestRelay.start(data, window(10));
                Dialect2Client client = Dialect2Client.bound(relay.wsPort(), PIPE + "?window=3")) {
            relay.publish(PIPE, 1, 6);
            client.take(3);
            client.line("UNBIND");
            assertThat(client.nextLine()).isEqualTo("UNBOUND");
            relay.awaitUnbound(PIPE);
            relay.publish("other", 1, 1);
            assertThat(client.within(A_WHILE)).isNull();

            client.ask("BIND:other");
            assertThat(client.take(1)).isEqualTo(ids(1, 1));
            client.line("UNBIND");
            assertThat(client.nextLine()).isEqualTo("UNBOUND");
            client.ask("BIND:" + PIPE + "?window=6");
            assertThat(client.take(6)).isEqualTo(ids(1, 6));
            client.line("ACKTO:6");
            relay.awaitSettled(PIPE, 6);
        }
    }

    @Test
    void acksAreConfirmedAtBothDurabilities() throws Exception {
        try (TestRelay relay = TestRelay.start(data, window(10))) {
            for (String durability : List.of("process", "disk")) {
                relay.http().createPipe(durability, Map.of("durability", durability));
                relay.publish(durability, 1, 20);
                try (Dialect2Client client =
                        Dialect2Client.bound(relay.wsPort(), durability + "?confirm=acks&headers=0")) {
                    client.take(20);
                    client.line("ACKTO:20");

                    assertThat(confirmedIds(client, 20)).containsExactlyElementsOf(ids(1, 20));
                    assertThat(relay.status(durability).path("durableFloor").asLong())
                            .isEqualTo(20);
                }
            }
        }
    }

    @Test
    void theEndIsToldOnceAllIsSettledAndToWhoComesLater() throws Exception {
        try (TestRelay relay = TestRelay.start(data, window(10)); // C02, C23
                Dialect2Client producer = Dialect2Client.publishing(relay.wsPort(), PIPE + "?type=bytes&producer=x");
                Dialect2Client client = Dialect2Client.bound(relay.wsPort(), PIPE)) {
            producer.publish(1, new byte[] {1});
            producer.publish(2, new byte[] {2});
            producer.line("FINISH");
            assertThat(producer.nextLine()).isIn("STORED:1", "STORED:2");
            await().atMost(PATIENCE).until(producer::nextLine, "FINISHED"::equals);

            client.take(2);
            client.line("ACK:1");
            assertThat(client.lineWithin(A_WHILE)).isNull();
            client.line("ACK:2");
            assertThat(client.nextLine()).isEqualTo("END");

            try (Dialect2Client late = Dialect2Client.connect(relay.wsPort())) {
                late.line("BIND:" + PIPE + "?mode=shared");
                List<String> lines = new ArrayList<>();
                await().atMost(PATIENCE).until(() -> lines.add(late.nextLine()) && lines.contains("END"));
            }
        }
    }

    private static Set<Long> confirmedIds(Dialect2Client client, int count) throws Exception {
        Set<Long> confirmed = new TreeSet<>();
        while (confirmed.size() < count) {
            String line = client.nextLine();
            assertThat(line).startsWith("ACKED:");
            for (String part : line.substring("ACKED:".length()).split(",", -1)) {
                String[] ends = part.split("-", -1);
                confirmed.addAll(ids(Long.parseLong(ends[0]), Long.parseLong(ends[ends.length - 1])));
            }
        }
        return confirmed;
    }

    private static String get(TestRelay relay, String path) throws Exception {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(relay.httpAddress().resolve("/v1/pipes/" + PIPE + path))
                                .build(),
                        BodyHandlers.ofString())
                .body();
    }
}
