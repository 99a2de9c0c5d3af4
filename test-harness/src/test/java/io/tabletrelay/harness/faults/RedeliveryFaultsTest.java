package io.tabletrelay.harness.faults;

import static io.tabletrelay.harness.faults.BoundClient.ids;
import static io.tabletrelay.harness.faults.TestRelay.NEVER;
import static io.tabletrelay.harness.faults.TestRelay.delivery;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tabletrelay.harness.RawClient;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of events that consumers refuse, or never answer. */
class RedeliveryFaultsTest {
    private static final String PIPE = "p";
    private static final Duration SHORT = Duration.ofMillis(20);

    @TempDir
    private Path data;

    @Test
    void anEventRefusedThreeTimesAtOnceIsDeliveredFourTimes() throws Exception {
        int events = 200; // A01
        try (TestRelay relay = TestRelay.start(data, delivery(64, NEVER, SHORT, 20));
                BoundClient client = relay.bind(PIPE)) {
            relay.publish(PIPE, 1, events);

            Map<Long, Integer> deliveries = new HashMap<>();
            for (int i = 0; i < 4 * events; i++) {
                long id = client.event().eventId();
                if (deliveries.merge(id, 1, Integer::sum) <= 3) {
                    client.refuse(id);
                } else {
                    client.ack(id);
                }
            }

            assertThat(deliveries)
                    .hasSize(events)
                    .allSatisfy((id, count) -> assertThat(count).isEqualTo(4));
            relay.awaitSettled(PIPE, events);
            assertThat(relay.status(PIPE).path("deadLetters").asInt(-1)).isZero();
            assertThat(client.within(Duration.ofMillis(200))).isNull();
        }
    }

    @Test
    void aConsumerThatNeverAcksGetsAWindowAndAfterTheTimeoutTheSameAgain() throws Exception {
        Duration ackTimeout = Duration.ofSeconds(2); // A23
        try (TestRelay relay = TestRelay.start(data, delivery(64, ackTimeout, SHORT, 20))) {
            relay.publish(PIPE, 1, 1);
            long heapBefore = usedHeapBytes();
            relay.publish(PIPE, 2, 20_000);
            try (BoundClient client = relay.bind(PIPE)) {
                List<Long> first = client.take(64);
                RawClient.Frame beyondTheWindow = client.within(Duration.ofMillis(500));
                int inFlight = relay.status(PIPE).path("inFlight").asInt();
                long heapGrowth = usedHeapBytes() - heapBefore;
                List<Long> again = client.take(64);

                assertThat(first).isEqualTo(ids(1, 64));
                assertThat(beyondTheWindow).isNull();
                assertThat(inFlight).isEqualTo(64);
                assertThat(heapGrowth).isLessThan(32L << 20);
                assertThat(again).isEqualTo(first);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void eventsThatTimeOutComeAgainThoughTheWindowIsFullOfThemAndThenMakeRoom(int windowEvents) throws Exception {
        int deliveries = 3; // BR-046, BR-057, BR-062
        try (TestRelay relay =
                        TestRelay.start(data, delivery(windowEvents, Duration.ofMillis(300), SHORT, deliveries));
                BoundClient client = relay.bind(PIPE)) {
            relay.publish(PIPE, 1, windowEvents + 2);

            List<Long> got = client.take(deliveries * windowEvents);
            List<Long> later = client.takeAndAck(2);

            List<Long> expected = new ArrayList<>();
            for (int i = 0; i < deliveries; i++) {
                expected.addAll(ids(1, windowEvents));
            }
            assertThat(got).isEqualTo(expected);
            assertThat(later).isEqualTo(ids(windowEvents + 1, windowEvents + 2));
            relay.awaitSettled(PIPE, windowEvents + 2);
            assertThat(relay.status(PIPE).path("deadLetters").asInt()).isEqualTo(windowEvents);
        }
    }

    @Test
    void anAckTimeoutOfZeroNeverEnds() throws Exception {
        try (TestRelay relay = TestRelay.start(data, delivery(1, Duration.ZERO, SHORT, 20)); // BR-061
                BoundClient client = relay.bind(PIPE)) {
            relay.publish(PIPE, 1, 2);
            long id = client.event().eventId();

            RawClient.Frame again = client.within(Duration.ofSeconds(1));

            assertThat(again).isNull();
            client.ack(id);
            assertThat(client.takeAndAck(1)).containsExactly(2L);
        }
    }

    @Test
    void anEventThatIsAlwaysRefusedBecomesADeadLetterAndHoldsUpNoOther() throws Exception {
        int events = 2_000; // A19, BR-079, BR-080, BR-081
        long poison = 777;
        try (TestRelay relay = TestRelay.start(data, delivery(10, NEVER, SHORT, 5));
                BoundClient client = relay.bind(PIPE)) {
            relay.publish(PIPE, 1, events);

            List<Long> others = new ArrayList<>();
            int poisoned = 0;
            while (others.size() < events - 1 || poisoned < 5) {
                long id = client.event().eventId();
                if (id == poison) {
                    client.refuse(id);
                    poisoned++;
                } else {
                    client.ack(id);
                    others.add(id);
                }
            }

            List<Long> expected = ids(1, events);
            expected = expected.stream().filter(id -> id != poison).toList();
            assertThat(others).isEqualTo(expected);
            relay.awaitSettled(PIPE, events);
            assertThat(client.within(Duration.ofMillis(200))).isNull();
            JsonNode letters = deadLetters(relay);
            assertThat(letters).hasSize(1);
            assertThat(letters.get(0).path("eventId").asLong()).isEqualTo(poison);
            assertThat(letters.get(0).path("failedDeliveries").asInt()).isEqualTo(5);
            assertThat(letters.get(0).path("lastError").asText()).isEqualTo("negative ack");
        }
    }

    @Test
    void aRefusedEventComesAgainNoSoonerThanItsBackoff() throws Exception {
        Duration backoff = Duration.ofMillis(500); // BR-078
        try (TestRelay relay = TestRelay.start(data, delivery(10, NEVER, backoff, 20));
                BoundClient client = relay.bind(PIPE)) {
            relay.publish(PIPE, 1, 1);
            client.refuse(client.event().eventId());
            long refusedNanos = System.nanoTime();

            client.takeAndAck(1);

            // the backoff may be a tenth shorter
            assertThat(Duration.ofNanos(System.nanoTime() - refusedNanos)).isGreaterThan(Duration.ofMillis(440));
        }
    }

    private static JsonNode deadLetters(TestRelay relay) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(relay.httpAddress().resolve("/v1/pipes/" + PIPE + "/dead-letters"))
                .build();
        String answer = HttpClient.newHttpClient()
                .send(request, BodyHandlers.ofString())
                .body();
        return new ObjectMapper().readTree(answer).path("deadLetters");
    }

    private static long usedHeapBytes() {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }
}
