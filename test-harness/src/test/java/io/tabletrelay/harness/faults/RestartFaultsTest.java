package io.tabletrelay.harness.faults;

import static io.tabletrelay.harness.faults.BoundClient.ids;
import static io.tabletrelay.harness.faults.TestRelay.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.tabletrelay.core.client.RelayHttp;
import io.tabletrelay.harness.RawClient;
import io.tabletrelay.harness.RelayProcess;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a relay knows after it was killed with SIGKILL, stopped with SIGTERM, or frozen with SIGSTOP. */
class RestartFaultsTest {
    private static final String PIPE = "p";
    private static final Duration READY = Duration.ofSeconds(60);
    private static final Duration A_WHILE = Duration.ofMillis(300);
    private static final int EVENTS_A_REQUEST = 4_000;

    @TempDir
    private Path data;

    @Test
    void afterAKillExactlyTheUnackedComeAgainUnderTheirOldIds() throws Exception {
        int events = 20_000; // A03, A04, BR-031, BR-032, BR-036
        String window = "--pipe-window=" + events;
        try (RelayProcess killed = ready(RelayProcess.serve(data, window))) {
            publishNumbers(killed, PIPE, 1, events);
            try (BoundClient client = BoundClient.bind(killed.wsPort(), PIPE)) {
                assertThatEachCarriesItsOwnNumber(client, ids(1, events));
                client.ack(everySecond(2, events));
                awaitStatus(killed, PIPE, "settled", events / 2);
                killed.kill();
            }
        }

        try (RelayProcess relay = ready(RelayProcess.serve(data, window));
                // acks of what the killed relay had sent, on a connection that it never had
                BoundClient client = BoundClient.bind(relay.wsPort(), PIPE, 1, 5, 4)) {
            List<Long> unacked = new ArrayList<>(everySecond(1, events - 1));
            unacked.removeAll(List.of(1L, 5L));

            assertThatEachCarriesItsOwnNumber(client, unacked);

            client.ack(unacked);
            awaitStatus(relay, PIPE, "floor", events);
            assertThat(client.within(A_WHILE)).isNull();
            assertThat(status(relay, PIPE).path("deadLetters").asInt(-1)).isZero();
        }
    }

    @Test
    void afterAKillNothingAckedComesAgainAndIdsGoOn() throws Exception {
        int events = 5_000; // BR-003, BR-028, BR-030, BR-037
        int last = events + 100;
        try (RelayProcess killed = ready(RelayProcess.serve(data))) {
            publishNumbers(killed, PIPE, 1, events);
            try (BoundClient client = BoundClient.bind(killed.wsPort(), PIPE)) {
                client.takeAndAck(events);
                awaitStatus(killed, PIPE, "floor", events);
                killed.kill();
            }
        }

        try (RelayProcess relay = ready(RelayProcess.serve(data))) {
            publishNumbers(relay, PIPE, events + 1, last);
            try (BoundClient client = BoundClient.bind(relay.wsPort(), PIPE)) {
                for (int id = events + 1; id <= last; id++) {
                    RawClient.Frame event = client.event();
                    client.ack(event.eventId());
                    assertThat(event.eventId()).isEqualTo(id);
                    assertThat(number(event)).isEqualTo(id);
                }
                awaitStatus(relay, PIPE, "floor", last);
                assertThat(client.within(A_WHILE)).isNull();
            }
        }
    }

    @Test
    void aPipeThatWasJustMadeIsThereAfterAKill() throws Exception {
        int kills = 4; // BR-002
        int pipesARun = 5;
        for (int run = 1; run <= kills; run++) {
            try (RelayProcess relay = ready(RelayProcess.serve(data))) {
                for (int pipe = 1; pipe <= pipesARun; pipe++) {
                    publishNumbers(relay, "p-" + run + "-" + pipe, 1, 1);
                }
                CompletableFuture<Void> beingMade = CompletableFuture.runAsync(() -> publishQuietly(relay, "unsure"));
                relay.kill();
                beingMade.get(60, TimeUnit.SECONDS);
            }
        }

        try (RelayProcess relay = ready(RelayProcess.serve(data))) {
            for (int run = 1; run <= kills; run++) {
                for (int pipe = 1; pipe <= pipesARun; pipe++) {
                    String name = "p-" + run + "-" + pipe;
                    assertThat(status(relay, name).path("lastId").asLong()).isEqualTo(1);
                }
            }
            try (BoundClient client = BoundClient.bind(relay.wsPort(), "p-1-1")) {
                assertThat(number(client.event())).isEqualTo(1);
            }
        }
    }

    @Test
    void acksThatComeWhileTheRelayStopsCount() throws Exception {
        int window = 100; // BR-072
        int events = 200;
        String flag = "--pipe-window=" + window;
        try (RelayProcess stopping = ready(RelayProcess.serve(data, flag))) {
            publishNumbers(stopping, PIPE, 1, events);
            try (BoundClient client = BoundClient.bind(stopping.wsPort(), PIPE)) {
                List<Long> inFlight = client.take(window);
                CompletableFuture<Integer> exitCode = CompletableFuture.supplyAsync(() -> terminate(stopping));
                await("no longer ready").atMost(PATIENCE).until(() -> !takesPublishes(stopping));

                client.ack(inFlight);
                RawClient.Frame last = client.raw().next(PATIENCE);

                assertThat(last.opcode()).isEqualTo(RawClient.CLOSE);
                assertThat(last.closeCode()).isEqualTo(1012);
                client.raw().sendFrame(RawClient.CLOSE, true, true, new byte[] {3, (byte) 0xf4});
                assertThat(exitCode.get(60, TimeUnit.SECONDS)).isZero();
            }
        }

        try (RelayProcess relay = ready(RelayProcess.serve(data, flag));
                BoundClient client = BoundClient.bind(relay.wsPort(), PIPE)) {
            assertThat(client.takeAndAck(window)).isEqualTo(ids(window + 1, events));
            assertThat(client.within(A_WHILE)).isNull();
        }
    }

    @Test
    void aSecondRelayOnAFolderIsRefusedThoughTheFirstIsFrozen() throws Exception {
        try (RelayProcess first = ready(RelayProcess.serve(data))) { // A15, BR-017, BR-018, BR-070
            publishNumbers(first, PIPE, 1, 10);
            first.pause();
            try (RelayProcess second = RelayProcess.serve(data)) {
                assertThat(second.exitCode(READY)).isEqualTo(3);
                assertThat(second.output())
                        .singleElement()
                        .asString()
                        .startsWith("relay: ")
                        .contains(data.toString())
                        .contains("pid=" + first.pid());
            }
            first.resume();

            publishNumbers(first, PIPE, 11, 20);
            try (BoundClient client = BoundClient.bind(first.wsPort(), PIPE)) {
                assertThatEachCarriesItsOwnNumber(client, ids(1, 10));
                client.ack(ids(1, 10));
                assertThatEachCarriesItsOwnNumber(client, ids(11, 20));
            }
            first.kill();
        }

        try (RelayProcess next = ready(RelayProcess.serve(data))) {
            assertThat(status(next, PIPE).path("lastId").asLong()).isEqualTo(20);
        }
    }

    @Test
    void anIdleRelayDoesNotSpin() throws Exception {
        Duration measured = Duration.ofSeconds(2); // A09
        try (RelayProcess relay = ready(RelayProcess.serve(data))) {
            for (int pipe = 1; pipe <= 50; pipe++) {
                publishNumbers(relay, "idle-" + pipe, 1, 1);
            }
            try (BoundClient client = BoundClient.bind(relay.wsPort(), "idle-1")) {
                client.takeAndAck(1);
                relay.runFor(Duration.ofSeconds(1));
                Duration before = relay.cpuTime();

                relay.runFor(measured);

                // one thread that spins would use as much as it gets; compilers at work use less than half of that
                assertThat(relay.cpuTime().minus(before)).isLessThan(measured.dividedBy(4));
                publishNumbers(relay, "idle-1", 2, 2);
                assertThat(client.takeAndAck(1)).containsExactly(2L);
            }
        }
    }

    private static RelayProcess ready(RelayProcess relay) throws InterruptedException {
        relay.awaitReady(READY);
        return relay;
    }

    /** Publishes the numbers as JSON, many in one request. */
    private static void publishNumbers(RelayProcess relay, String pipe, long first, long last)
            throws IOException, InterruptedException {
        RelayHttp http = new RelayHttp(relay.http());
        for (long from = first; from <= last; from += EVENTS_A_REQUEST) {
            String numbers = LongStream.rangeClosed(from, Math.min(last, from + EVENTS_A_REQUEST - 1))
                    .mapToObj(Long::toString)
                    .collect(Collectors.joining(",", "[", "]"));
            http.publish(pipe, "json", Map.of(), ByteBuffer.wrap(numbers.getBytes(StandardCharsets.UTF_8)), null);
        }
    }

    private static void publishQuietly(RelayProcess relay, String pipe) {
        try {
            publishNumbers(relay, pipe, 1, 1);
        } catch (IOException e) {
            // the relay was killed first: that is one of the moments this is about
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static boolean takesPublishes(RelayProcess relay) throws InterruptedException {
        try {
            publishNumbers(relay, "probe", 1, 1);
            return true;
        } catch (IOException | RuntimeException e) {
            return false;
        }
    }

    private static int terminate(RelayProcess relay) {
        try {
            return relay.terminate(READY);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void assertThatEachCarriesItsOwnNumber(BoundClient client, List<Long> ids) throws IOException {
        List<Long> got = new ArrayList<>();
        List<Long> numbers = new ArrayList<>();
        for (int i = 0; i < ids.size(); i++) {
            RawClient.Frame event = client.event();
            got.add(event.eventId());
            numbers.add(number(event));
        }
        assertThat(got).isEqualTo(ids);
        assertThat(numbers).isEqualTo(ids);
    }

    private static long number(RawClient.Frame event) {
        return Long.parseLong(StandardCharsets.UTF_8.decode(event.event()).toString());
    }

    private static List<Long> everySecond(long first, long last) {
        return LongStream.iterate(first, id -> id <= last, id -> id + 2).boxed().toList();
    }

    private static JsonNode status(RelayProcess relay, String pipe) throws IOException, InterruptedException {
        return new RelayHttp(relay.http()).pipe(pipe);
    }

    private static void awaitStatus(RelayProcess relay, String pipe, String member, long value) {
        RelayHttp http = new RelayHttp(relay.http());
        await(member + "=" + value)
                .atMost(PATIENCE)
                .untilAsserted(() ->
                        assertThat(http.pipe(pipe).path(member).asLong(-1)).isEqualTo(value));
    }
}
