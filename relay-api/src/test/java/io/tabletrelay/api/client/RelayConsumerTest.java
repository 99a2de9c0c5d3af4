package io.tabletrelay.api.client;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class RelayConsumerTest {
    private final ScriptedServer server = new ScriptedServer();
    private final List<Long> handled = new CopyOnWriteArrayList<>();
    private final List<RelayEvent> events = new CopyOnWriteArrayList<>();

    RelayConsumerTest() throws IOException {}

    @AfterEach
    void closeServer() throws IOException {
        server.close();
    }

    private RelayConsumer.Builder consumer() {
        return RelayConsumer.builder(server.address(), new PipeName("a pipe/ä"))
                .longestSilence(Duration.ofSeconds(30))
                .closeTimeout(Duration.ofMillis(200));
    }

    private ScriptedPeer bound() throws IOException, InterruptedException {
        ScriptedPeer relay = server.next();
        assertThat(relay.line()).startsWith("BIND:a%20pipe%2F%C3%A4");
        relay.send(Records.READY);
        return relay;
    }

    /** Reads ack lines until they name so many ids. */
    private static List<Long> acked(ScriptedPeer relay, int count) throws InterruptedException {
        List<Long> ids = new ArrayList<>();
        while (ids.size() < count) {
            String line = relay.line();
            assertThat(line).startsWith("ACK:");
            for (String range : line.substring(4).split(",", -1)) {
                String[] ends = range.split("-", -1);
                for (long id = Long.parseLong(ends[0]); id <= Long.parseLong(ends[ends.length - 1]); id++) {
                    ids.add(id);
                }
            }
        }
        return ids;
    }

    @Test
    void whatIsAskedForStandsInTheFirstLine() throws Exception {
        try (RelayConsumer consumer = consumer()
                .onEvent(event -> {})
                .subscription("a&b")
                .startAt(Instant.ofEpochSecond(0))
                .window(7)
                .strict()
                .mode(RelayConsumer.Mode.STANDBY)
                .headers()
                .start()) {
            String line = server.next().line();

            assertThat(line.substring(line.indexOf('?') + 1).split("&", -1))
                    .containsExactlyInAnyOrder(
                            "subscription=a%26b",
                            "start=1970-01-01T00%3A00%3A00Z", "window=7", "order=strict", "mode=standby", "headers=1");
            assertThat(consumer.ready()).isNotDone();
        }
    }

    @Test
    void eventsAreHandledInOrderAndAcked() throws Exception {
        try (RelayConsumer consumer =
                consumer().onEvent(event -> handled.add(event.id())).start()) {
            ScriptedPeer relay = bound();
            relay.sendFrame(Records.events(1, 60, 1));
            relay.sendFrame(Records.events(61, 100, 1));

            assertThat(acked(relay, 100)).hasSize(100).doesNotHaveDuplicates();
            assertThat(handled).hasSize(100).isSorted();
            assertThat(consumer.ready()).isCompleted();
            relay.send("END");
            assertThat(relay.closeCode()).isEqualTo(1000);
            await().atMost(10, SECONDS).until(() -> consumer.completion().isDone());
            assertThat(consumer.completion()).isCompleted();
        }
    }

    @Test
    void oneLineAnswersManyEvents() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        try (RelayConsumer consumer = consumer()
                .onBatch(100, batch -> {
                    go.await();
                    handled.addAll(batch.stream().map(RelayEvent::id).toList());
                })
                .start()) {
            ScriptedPeer relay = bound();
            relay.sendFrame(Records.events(1, 50, 1));

            go.countDown();

            assertThat(relay.line()).isEqualTo("ACK:1-50");
            assertThat(consumer.completion()).isNotDone();
        }
    }

    @Test
    void aMessageInManyPartsIsPutTogetherAndPingsBetweenAreAnswered() throws Exception {
        try (RelayConsumer consumer =
                consumer().manualAck().onEvent(events::add).start()) {
            ScriptedPeer relay = server.next();
            relay.line();
            relay.sendInParts(1, Records.READY.getBytes(StandardCharsets.UTF_8), 3);
            byte[] payload = new byte[300_000];
            payload[299_999] = 5;

            relay.sendInParts(2, Records.event(9, 1, 0, payload), 1_000);

            await().atMost(20, SECONDS).until(() -> events.size() == 1);
            assertThat(events.get(0).bytes()).isEqualTo(payload);
            await().atMost(20, SECONDS).until(() -> relay.pongs() > 0);
            assertThat(consumer.completion()).isNotDone();
            assertThat(events.get(0).ack()).isTrue();
        }
    }

    @Test
    void anEventHasAllThatTheRelayTold() throws Exception {
        try (RelayConsumer consumer = consumer().headers().onEvent(events::add).start()) {
            ScriptedPeer relay = bound();

            relay.sendFrame(Records.eventWithHeaders(9, "{\"a\":\"ü\\n\"}", new byte[] {1, 2}));

            assertThat(relay.line()).isEqualTo("ACK:9");
            RelayEvent event = events.get(0);
            assertThat(event.headers()).isEqualTo(Map.of("a", "ü\n"));
            assertThat(event.bytes()).containsExactly(1, 2);
            assertThat(event.epoch()).isEqualTo(7);
            assertThat(event.delivery()).isEqualTo(1);
            assertThat(event.appendedAt()).isEqualTo(Instant.ofEpochMilli(1_009));
            assertThat(consumer.completion()).isNotDone();
        }
    }

    @Test
    void aHandlerThatThrowsRefusesTheEventWithItsReason() throws Exception {
        try (RelayConsumer consumer = consumer()
                .onEvent(event -> {
                    if (event.id() == 1) {
                        throw new IOException("no\nspace: left");
                    }
                })
                .start()) {
            ScriptedPeer relay = bound();

            relay.sendFrame(Records.events(1, 1, 1));
            assertThat(relay.line()).isEqualTo("NACK:1:1000:no space: left");
            relay.sendFrame(Records.events(1, 1, 3));
            assertThat(relay.line()).isEqualTo("NACK:1:4000:no space: left");
            relay.sendFrame(Records.events(2, 2, 1));
            assertThat(relay.line()).isEqualTo("ACK:2");
            assertThat(consumer.completion()).isNotDone();
        }
    }

    @Test
    void eachAnswerIsTheUsersWithManualAcks() throws Exception {
        try (RelayConsumer consumer =
                consumer().manualAck().onEvent(events::add).start()) {
            ScriptedPeer relay = bound();
            relay.sendFrame(Records.events(1, 4, 1));
            await().atMost(10, SECONDS).until(() -> events.size() == 4);

            events.get(0).hold();
            assertThat(relay.line()).isEqualTo("HOLD:1");
            events.get(1).nack(Duration.ofMillis(20), "later");
            assertThat(relay.line()).isEqualTo("NACK:2:20:later");
            events.get(2).term("broken");
            assertThat(relay.line()).isEqualTo("TERM:3:broken");
            events.get(3).ack();
            assertThat(relay.line()).isEqualTo("ACK:4");
            assertThat(events.get(3).nack(Duration.ZERO, "too late")).isFalse();
            events.get(0).ack();
            assertThat(relay.line()).isEqualTo("ACK:1");
            assertThat(consumer.completion()).isNotDone();
        }
    }

    @Test
    void anEventThatWaitsForAManualAckIsHandedOverAgainWhenItComesAgain() throws Exception {
        try (RelayConsumer consumer =
                consumer().manualAck().onEvent(events::add).start()) {
            ScriptedPeer relay = bound();
            relay.sendFrame(Records.events(1, 1, 1));
            await().atMost(10, SECONDS).until(() -> events.size() == 1 && !events.get(0).atWork);

            relay.sendFrame(Records.events(1, 1, 2));

            await().atMost(10, SECONDS).until(() -> events.size() == 2);
            events.get(1).ack();
            assertThat(relay.line()).isEqualTo("ACK:1");
            assertThat(consumer.completion()).isNotDone();
        }
    }

    @Test
    void afterALostConnectionWorkGoesOnAndItsAckCountsOnTheNewOne() throws Exception {
        Semaphore go = new Semaphore(0);
        try (RelayConsumer consumer = consumer()
                .onEvent(event -> {
                    handled.add(event.id());
                    go.acquire();
                })
                .start()) {
            ScriptedPeer first = bound();
            first.sendFrame(Records.events(1, 3, 1));
            await().atMost(10, SECONDS).until(() -> handled.equals(List.of(1L)));

            first.reset();
            ScriptedPeer second = bound();
            go.release();
            assertThat(second.line()).isEqualTo("ACK:1");
            assertThat(handled).containsExactly(1L);

            second.sendFrame(Records.events(2, 3, 2));
            go.release(2);
            assertThat(acked(second, 2)).containsExactly(2L, 3L);
            assertThat(handled).containsExactly(1L, 2L, 3L);
            assertThat(consumer.completion()).isNotDone();
        }
    }

    @Test
    void anEventThatComesAgainWhileTheHandlerHasItIsNotHandledTwice() throws Exception {
        Semaphore go = new Semaphore(0);
        try (RelayConsumer consumer = consumer()
                .concurrency(2)
                .onEvent(event -> {
                    handled.add(event.id());
                    go.acquire();
                })
                .start()) {
            ScriptedPeer first = bound();
            first.sendFrame(Records.events(1, 1, 1));
            await().atMost(10, SECONDS).until(() -> handled.equals(List.of(1L)));
            first.reset();
            ScriptedPeer second = bound();

            second.sendFrame(Records.events(1, 2, 2));

            await().atMost(10, SECONDS).until(() -> handled.equals(List.of(1L, 2L)));
            go.release(2);
            assertThat(acked(second, 2)).containsExactlyInAnyOrder(1L, 2L);
            assertThat(handled).containsExactly(1L, 2L);
            assertThat(consumer.completion()).isNotDone();
        }
    }

    @Test
    void acksThatMayNotHaveBeenReadAreSentAgain() throws Exception {
        try (RelayConsumer consumer = consumer().window(3).onEvent(event -> {}).start()) {
            ScriptedPeer first = bound();
            for (int id = 1; id <= 5; id++) {
                first.sendFrame(Records.events(id, id, 1));
                assertThat(first.line()).isEqualTo("ACK:" + id);
            }

            first.reset();

            assertThat(bound().line()).isEqualTo("ACK:3-5");
            assertThat(consumer.completion()).isNotDone();
        }
    }

    @Test
    void answersToAnEarlierPipeOfTheSameNameAreDropped() throws Exception {
        try (RelayConsumer consumer =
                consumer().manualAck().onEvent(events::add).start()) {
            ScriptedPeer first = bound();
            first.sendFrame(Records.events(1, 1, 1));
            await().atMost(10, SECONDS).until(() -> events.size() == 1);
            first.reset();
            ScriptedPeer second = server.next();
            second.line();
            second.send(Records.READY.replace("\"epoch\":7", "\"epoch\":8"));
            second.sendFrame(Records.events(1, 2, 1));
            await().atMost(10, SECONDS).until(() -> events.size() == 3);

            events.get(0).ack();
            events.get(2).ack();

            assertThat(second.line()).isEqualTo("ACK:2");
            assertThat(consumer.completion()).isNotDone();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1007, 1009, 4001, 4003, 4004, 4409, 4410})
    void aCodeThatSaysForGoodEndsItWithAllThatIsKnown(int code) throws Exception {
        try (RelayConsumer consumer = consumer().onEvent(event -> {}).start()) {
            ScriptedPeer relay = server.next();
            relay.line();

            relay.send("ERROR:{\"code\":\"NO_SUCH_PIPE\",\"message\":\"no such pipe: \\\"x\\\"\"}");
            relay.close(code, "because");

            RelayClosedException why = ending(consumer);
            assertThat(why.closeCode()).isEqualTo(code);
            assertThat(why.reason()).isEqualTo("because");
            assertThat(why.errorCode()).contains(ErrorCode.NO_SUCH_PIPE);
            assertThat(why).hasMessageContaining("no such pipe: \"x\"");
            assertThat(server.isLeftAlone(300)).isTrue();
        }
    }

    private static RelayClosedException ending(RelayConsumer consumer) {
        await().atMost(10, SECONDS).until(() -> consumer.completion().isDone());
        return consumer.completion()
                .<RelayClosedException>handle((done, e) -> {
                    Throwable why = e instanceof CompletionException ? e.getCause() : e;
                    if (why instanceof RelayClosedException closed) {
                        return closed;
                    }
                    throw new AssertionError("it ended otherwise", e);
                })
                .join();
    }

    @ParameterizedTest
    @ValueSource(ints = {1001, 1012, 4008, 4500})
    void anyOtherCodeMakesItConnectAgain(int code) throws Exception {
        try (RelayConsumer consumer =
                consumer().onEvent(event -> handled.add(event.id())).start()) {
            bound().close(code, "because");

            bound().sendFrame(Records.events(1, 1, 1));

            await().atMost(10, SECONDS).until(() -> handled.equals(List.of(1L)));
            assertThat(consumer.completion()).isNotDone();
        }
    }

    @Test
    void aBindThatIsRefusedForItsOptionsEndsIt() throws Exception {
        try (RelayConsumer consumer = consumer().batch(0).onEvent(event -> {}).start()) {
            ScriptedPeer relay = server.next();
            relay.line();

            relay.send("ERROR:{\"code\":\"BAD_OPTION\",\"message\":\"batch=0\"}");

            assertThat(ending(consumer).errorCode()).contains(ErrorCode.BAD_OPTION);
        }
    }

    @Test
    void aServerOfAnotherProtocolEndsIt() throws Exception {
        try (ScriptedServer other = new ScriptedServer("");
                RelayConsumer consumer = RelayConsumer.builder(other.address(), new PipeName("p"))
                        .onEvent(event -> {})
                        .start()) {
            assertThat(ending(consumer)).hasMessageContaining("does not speak tablet-relay.v2");
        }
    }

    @Test
    void silenceEndsAConnectionAndPingsKeepIt() throws Exception {
        try (RelayConsumer consumer = consumer()
                .longestSilence(Duration.ofMillis(1_500))
                .onEvent(event -> handled.add(event.id()))
                .start()) {
            ScriptedPeer first = bound();
            for (int i = 0; i < 15; i++) {
                assertThat(server.isLeftAlone(200)).isTrue();
                first.ping();
            }

            ScriptedPeer second = bound();

            second.sendFrame(Records.events(1, 1, 1));
            await().atMost(10, SECONDS).until(() -> handled.equals(List.of(1L)));
            assertThat(consumer.completion()).isNotDone();
        }
    }

    @Test
    void garbageFromTheServerEndsTheConnectionNotTheClient() throws Exception {
        try (RelayConsumer consumer =
                consumer().onEvent(event -> handled.add(event.id())).start()) {
            bound().sendFrame(new byte[13]);
            bound().send("READY:[");
            bound().sendFrame(Records.events(1, 1, 1));

            await().atMost(10, SECONDS).until(() -> handled.equals(List.of(1L)));
            assertThat(consumer.completion()).isNotDone();
        }
    }

    @Test
    void soManyCallsRunAtOnceAndNoMore() throws Exception {
        Semaphore go = new Semaphore(0);
        AtomicInteger running = new AtomicInteger();
        try (RelayConsumer consumer = consumer()
                .concurrency(4)
                .onEvent(event -> {
                    running.incrementAndGet();
                    go.acquire();
                    running.decrementAndGet();
                })
                .start()) {
            ScriptedPeer relay = bound();
            relay.sendFrame(Records.events(1, 10, 1));

            await().during(Duration.ofMillis(300)).atMost(10, SECONDS).until(() -> running.get() == 4);
            go.release(10);
            assertThat(acked(relay, 10)).hasSize(10);
            assertThat(consumer.completion()).isNotDone();
        }
    }

    @Test
    void eventsThatTakeLongAreHeldWhetherTheyRunOrWait() throws Exception {
        Semaphore go = new Semaphore(0);
        try (RelayConsumer consumer = consumer()
                .holdEvery(Duration.ofMillis(100))
                .onEvent(event -> go.acquire())
                .start()) {
            ScriptedPeer relay = bound();
            relay.sendFrame(Records.events(1, 2, 1));

            assertThat(List.of(relay.line(), relay.line())).containsExactlyInAnyOrder("HOLD:1", "HOLD:2");
            go.release(2);
            await().atMost(10, SECONDS).until(() -> relay.line().startsWith("ACK"));
            assertThat(consumer.completion()).isNotDone();
        }
    }

    @Test
    void aCloseWaitsForWhatIsAtWorkAndSendsItsAckBeforeItLeaves() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        RelayConsumer consumer = consumer()
                .closeTimeout(Duration.ofSeconds(20))
                .onEvent(event -> {
                    handled.add(event.id());
                    go.await();
                })
                .start();
        ScriptedPeer relay = bound();
        relay.sendFrame(Records.events(1, 3, 1));
        await().atMost(10, SECONDS).until(() -> handled.equals(List.of(1L)));

        var stopped = consumer.stop();

        assertThat(relay.line()).isEqualTo("WINDOW:0");
        relay.sendFrame(Records.events(4, 4, 1));
        assertThat(relay.next(200)).isNull();
        go.countDown();
        assertThat(relay.line()).isEqualTo("ACK:1");
        assertThat(relay.line()).isEqualTo("UNBIND");
        relay.send("UNBOUND");
        assertThat(relay.closeCode()).isEqualTo(1000);
        stopped.get(10, SECONDS);
        assertThat(handled).containsExactly(1L);
    }

    @Test
    void aHandlerThatNeverReturnsHoldsACloseUpOnlyForItsTimeout() throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        RelayConsumer consumer = consumer()
                .closeTimeout(Duration.ofMillis(300))
                .onEvent(event -> {
                    handled.add(event.id());
                    never.await();
                })
                .start();
        bound().sendFrame(Records.events(1, 1, 1));
        await().atMost(10, SECONDS).until(() -> !handled.isEmpty());
        long startNanos = System.nanoTime();

        consumer.close();

        assertThat(Duration.ofNanos(System.nanoTime() - startNanos))
                .isBetween(Duration.ofMillis(290), Duration.ofSeconds(5));
    }

    @Test
    void aHandlerMayCloseItsConsumer() throws Exception {
        List<RelayConsumer> self = new CopyOnWriteArrayList<>();
        CountDownLatch there = new CountDownLatch(1);
        RelayConsumer consumer = consumer()
                .onEvent(event -> {
                    there.await();
                    self.get(0).close();
                })
                .start();
        self.add(consumer);
        there.countDown();
        ScriptedPeer relay = bound();

        relay.sendFrame(Records.events(1, 1, 1));

        assertThat(relay.line()).isEqualTo("WINDOW:0");
        assertThat(relay.line()).isEqualTo("ACK:1");
        assertThat(relay.line()).isEqualTo("UNBIND");
    }

    @Test
    void aHundredThousandEventsTakeLittleTime() throws Exception {
        AtomicInteger count = new AtomicInteger();
        try (RelayConsumer consumer =
                consumer().onEvent(event -> count.incrementAndGet()).start()) {
            ScriptedPeer relay = bound();
            for (int first = 1; first <= 100_000; first += 64) {
                relay.sendFrame(Records.events(first, Math.min(100_000, first + 63), 1));
            }

            assertThat(acked(relay, 100_000)).hasSize(100_000);

            assertThat(count).hasValue(100_000);
            assertThat(consumer.completion()).isNotDone();
        }
    }
}
