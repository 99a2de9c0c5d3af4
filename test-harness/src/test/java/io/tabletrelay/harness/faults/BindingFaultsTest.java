package io.tabletrelay.harness.faults;

import static io.tabletrelay.harness.faults.BoundClient.ids;
import static io.tabletrelay.harness.faults.TestRelay.PATIENCE;
import static io.tabletrelay.harness.faults.TestRelay.delivery;
import static io.tabletrelay.harness.faults.TestRelay.window;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.tabletrelay.core.config.RedeliveryConfig;
import io.tabletrelay.harness.RawClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Who has a pipe when several want it. */
class BindingFaultsTest {
    private static final String PIPE = "p";

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final ListAppender<ILoggingEvent> logged = new ListAppender<>();

    @TempDir
    private Path data;

    @BeforeEach
    void listen() {
        logged.start();
        root().addAppender(logged);
    }

    @AfterEach
    void stopListening() {
        root().detachAppender(logged);
        threads.shutdownNow();
    }

    @Test
    void ofTwoSimultaneousBindsOneIsReadyAndTheOtherRefused() throws Exception {
        int rounds = 200; // A11, BR-067
        int pipes = 10;
        try (TestRelay relay = TestRelay.start(data, window(10))) {
            for (int round = 0; round < rounds; round++) {
                String pipe = "p" + round % pipes;
                int event = round / pipes + 1;
                CompletableFuture<Void> refused = new CompletableFuture<>();
                CompletableFuture<Contest> one = contest(relay, pipe, refused);
                CompletableFuture<Contest> other = contest(relay, pipe, refused);
                refused.get(60, TimeUnit.SECONDS);
                relay.publish(pipe, event, event);

                List<Contest> contests = List.of(one.get(60, TimeUnit.SECONDS), other.get(60, TimeUnit.SECONDS));

                assertThat(contests)
                        .as("round %d", round)
                        .containsExactlyInAnyOrder(new Contest("READY", event), new Contest("ERROR", 4000));
                relay.awaitUnbound(pipe);
            }
        }
    }

    @Test
    void aSecondBindOnOneConnectionChangesNothing() throws Exception {
        try (TestRelay relay = TestRelay.start(data, window(10)); // A13
                BoundClient client = relay.bind("first")) {
            client.raw().sendText("BIND:second");
            relay.publish("second", 1, 1);
            relay.publish("first", 1, 2);

            assertThat(client.takeAndAck(2)).isEqualTo(ids(1, 2));
            relay.awaitSettled("first", 2);
            assertThat(relay.status("second").path("consumer").asBoolean(true)).isFalse();
            assertThat(client.within(Duration.ofMillis(200))).isNull();
        }
        assertThat(logged.list)
                .singleElement()
                .satisfies(event -> assertThat(event.getFormattedMessage()).contains("a second BIND"));
    }

    @Test
    void connectionsThatNeverBindOrAreRefusedLeaveNothingBehind() throws Exception {
        int connections = 100; // A14
        try (TestRelay relay = TestRelay.start(data, window(10));
                BoundClient holder = relay.bind(PIPE)) {
            CompletableFuture<Void> answering = CompletableFuture.runAsync(() -> answerPings(holder), threads);
            for (int i = 0; i < connections; i++) {
                RawClient.connect(relay.wsPort()).close();
                RawClient.tcp(relay.wsPort()).reset();
                try (RawClient refused = RawClient.connect(relay.wsPort())) {
                    refused.sendText("BIND:" + PIPE);
                    assertThat(refused.next(PATIENCE).text()).isEqualTo("ERROR");
                    assertThat(refused.next(PATIENCE).closeCode()).isEqualTo(4000);
                }
            }

            await("only the holder is left").atMost(PATIENCE).until(() -> openConnections(relay), open -> open == 1);
            relay.publish(PIPE, 1, 1);
            answering.get(30, TimeUnit.SECONDS);
            relay.awaitSettled(PIPE, 1);
        }
        assertThat(logged.list)
                .filteredOn(event -> event.getLevel().isGreaterOrEqual(Level.WARN))
                .isEmpty();
    }

    @Test
    void aHolderThatAnswersNothingIsTakenOverAndItsLateAcksCount() throws Exception {
        Duration probe = Duration.ofMillis(500); // A25, BR-091
        try (TestRelay relay = TestRelay.start(data, delivery(10, probe, RedeliveryConfig.DEFAULT));
                BoundClient dead = relay.bind(PIPE)) {
            relay.publish(PIPE, 1, 5);
            dead.take(5);
            long startedNanos = System.nanoTime();

            try (BoundClient next = relay.bind(PIPE)) {
                Duration took = Duration.ofNanos(System.nanoTime() - startedNanos);
                List<Long> again = next.take(5);
                dead.ack(ids(1, 3));
                relay.awaitStatus(PIPE, "floor", 3);
                next.ack(ids(4, 5));

                assertThat(took).isGreaterThanOrEqualTo(probe);
                assertThat(again).isEqualTo(ids(1, 5));
                relay.awaitSettled(PIPE, 5);
                RawClient.Frame end = dead.raw().next(PATIENCE);
                while (end.opcode() != RawClient.CLOSE) {
                    end = dead.raw().next(PATIENCE);
                }
                assertThat(end.closeCode()).isEqualTo(4409);
            }
        }
    }

    @Test
    void anOfferToCompressIsDeclinedAndEventsComeInWholeFrames() throws Exception {
        try (TestRelay relay = TestRelay.start(data, window(10)); // BR-122, BR-125
                RawClient client = RawClient.tcp(relay.wsPort())) {
            String answer =
                    client.handshake("Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n");
            client.sendText("BIND:" + PIPE);
            relay.publish(PIPE, ByteBuffer.allocate(1 << 20)).get(30, TimeUnit.SECONDS);

            assertThat(client.next(PATIENCE).text()).isEqualTo("READY");
            RawClient.Frame event = client.next(PATIENCE);

            assertThat(answer).doesNotContainIgnoringCase("Sec-WebSocket-Extensions");
            assertThat(event.last()).isTrue();
            assertThat(event.event()).isEqualTo(ByteBuffer.allocate(1 << 20));
        }
    }

    @Test
    void connectionsThatComeAndGoOnManyThreadsLeaveEachPipeToOneAtMost() throws Exception {
        int threadCount = 8; // A12
        try (TestRelay relay = TestRelay.start(data, window(10))) {
            List<CompletableFuture<Integer>> bound = new ArrayList<>();
            for (int thread = 0; thread < threadCount; thread++) {
                long seed = thread;
                bound.add(CompletableFuture.supplyAsync(() -> comeAndGo(relay, new Random(seed)), threads));
            }
            for (CompletableFuture<Integer> each : bound) {
                assertThat(each.get(60, TimeUnit.SECONDS)).isPositive();
            }
            for (int pipe = 0; pipe < 4; pipe++) {
                relay.awaitUnbound("p" + pipe);
            }
            await("no connection is left").atMost(PATIENCE).until(() -> openConnections(relay), open -> open == 0);
        }
        assertThat(logged.list).isEmpty();
    }

    /** Binds and leaves 25 times; returns how often the pipe was its own. */
    private static int comeAndGo(TestRelay relay, Random random) {
        int bound = 0;
        for (int i = 0; i < 25; i++) {
            try (RawClient client = RawClient.connect(relay.wsPort())) {
                client.sendText("BIND:p" + random.nextInt(4));
                boolean impatient = random.nextInt(4) == 0;
                if (!impatient) {
                    bound += client.next(PATIENCE).text().equals("READY") ? 1 : 0;
                }
                if (random.nextBoolean()) {
                    client.reset();
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return bound;
    }

    /** What one of two contenders was told, and then the event it got or the code it was closed with. */
    private record Contest(String answer, long eventIdOrCloseCode) {}

    private CompletableFuture<Contest> contest(TestRelay relay, String pipe, CompletableFuture<Void> refused) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try (RawClient client = RawClient.connect(relay.wsPort())) {
                        client.sendText("BIND:" + pipe);
                        String answer = client.next(PATIENCE).text();
                        if (answer.equals("ERROR")) {
                            refused.complete(null);
                            return new Contest(answer, client.next(PATIENCE).closeCode());
                        }
                        long id = client.next(PATIENCE).eventId();
                        client.sendText("ACK:" + id);
                        relay.awaitStatus(pipe, "floor", id);
                        return new Contest(answer, id);
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                },
                threads);
    }

    private static void answerPings(BoundClient holder) {
        try {
            holder.takeAndAck(1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static int openConnections(TestRelay relay) throws Exception {
        HttpRequest request =
                HttpRequest.newBuilder(relay.httpAddress().resolve("/metrics")).build();
        String metrics = HttpClient.newHttpClient()
                .send(request, BodyHandlers.ofString())
                .body();
        return metrics.lines()
                .filter(line -> line.startsWith("relay_edge_connections "))
                .mapToInt(line -> (int) Double.parseDouble(line.substring(line.indexOf(' '))))
                .sum();
    }

    private static Logger root() {
        return (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
    }
}
