package io.tabletrelay.api.client;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RelayProducerTest {
    private final ScriptedServer server = new ScriptedServer();

    RelayProducerTest() throws IOException {}

    @AfterEach
    void closeServer() throws IOException {
        server.close();
    }

    private RelayProducer.Builder producer() {
        return RelayProducer.builder(server.address(), new PipeName("p")).closeTimeout(Duration.ofMillis(200));
    }

    private ScriptedPeer accepted(long last, int credit) throws IOException, InterruptedException {
        ScriptedPeer relay = server.next();
        assertThat(relay.line()).startsWith("PUBLISH:p");
        relay.send(Records.readyToPublish(last, credit));
        return relay;
    }

    private static List<CompletableFuture<Stored>> publish(RelayProducer producer, int from, int to)
            throws InterruptedException {
        List<CompletableFuture<Stored>> all = new ArrayList<>();
        for (int i = from; i <= to; i++) {
            all.add(producer.publish(("e" + i).getBytes(StandardCharsets.UTF_8)));
        }
        return all;
    }

    private static void expect(ScriptedPeer relay, long sequence, String payload) throws InterruptedException {
        ByteBuffer frame = relay.next().bytes();
        assertThat(frame.getLong()).isEqualTo(sequence);
        assertThat(StandardCharsets.UTF_8.decode(frame).toString()).isEqualTo(payload);
    }

    private static void stored(CompletableFuture<Stored> future, long sequence) throws Exception {
        assertThat(future.get(10, SECONDS)).isEqualTo(new Stored(7, sequence));
    }

    @Test
    void sequencesFollowWhatTheRelayHasAndAnswersAreCumulative() throws Exception {
        try (RelayProducer producer = producer().name("a b").type("json").start()) {
            List<CompletableFuture<Stored>> futures = publish(producer, 1, 3);
            ScriptedPeer relay = server.next();
            assertThat(relay.line()).contains("producer=a%20b").contains("type=json");
            relay.send(Records.readyToPublish(41, 100));
            expect(relay, 42, "e1");
            expect(relay, 43, "e2");
            expect(relay, 44, "e3");

            relay.send("STORED:43");

            stored(futures.get(0), 42);
            stored(futures.get(1), 43);
            assertThat(futures.get(2)).isNotDone();
        }
    }

    @Test
    void neverMoreThanTheCreditIsUnanswered() throws Exception {
        try (RelayProducer producer = producer().start()) {
            ScriptedPeer relay = accepted(0, 2);
            publish(producer, 1, 4);
            expect(relay, 1, "e1");
            expect(relay, 2, "e2");
            assertThat(relay.next(300)).isNull();

            relay.send("STORED:1");

            expect(relay, 3, "e3");
            assertThat(relay.next(300)).isNull();
        }
    }

    @Test
    void neverMoreThanTheCreditOfBytesIsUnansweredButOneAlwaysMayBe() throws Exception {
        try (RelayProducer producer = producer().start()) {
            ScriptedPeer relay = accepted(0, 10);
            var unused = producer.publish(new byte[100]);
            publish(producer, 2, 2);
            assertThat(relay.next().bytes().getLong()).isEqualTo(1);
            assertThat(relay.next(300)).isNull();

            relay.send("STORED:1");

            expect(relay, 2, "e2");
        }
    }

    @Test
    void answersThatWereLostWithTheConnectionAreLearntFromTheNextOne() throws Exception {
        try (RelayProducer producer = producer().name("a").start()) {
            ScriptedPeer first = accepted(0, 100);
            List<CompletableFuture<Stored>> futures = publish(producer, 1, 5);
            for (int i = 1; i <= 5; i++) {
                expect(first, i, "e" + i);
            }
            first.reset();

            ScriptedPeer second = accepted(3, 100);

            stored(futures.get(2), 3);
            expect(second, 4, "e4");
            expect(second, 5, "e5");
            second.send("STORED:5");
            stored(futures.get(4), 5);
            assertThat(futures).allMatch(CompletableFuture::isDone);
        }
    }

    @Test
    void withoutANameAllThatIsUnansweredGoesAgain() throws Exception {
        try (RelayProducer producer = producer().start()) {
            ScriptedPeer first = accepted(0, 100);
            List<CompletableFuture<Stored>> futures = publish(producer, 1, 3);
            expect(first, 1, "e1");
            first.send("STORED:1");
            stored(futures.get(0), 1);
            first.reset();

            ScriptedPeer second = accepted(0, 100);

            expect(second, 1, "e2");
            expect(second, 2, "e3");
        }
    }

    @Test
    void whatIsRefusedForNowGoesAgainInOrderAndWhatIsBehindItWaits() throws Exception {
        try (RelayProducer producer = producer().start()) {
            ScriptedPeer relay = accepted(0, 4);
            List<CompletableFuture<Stored>> futures = publish(producer, 1, 5);
            for (int i = 1; i <= 4; i++) {
                expect(relay, i, "e" + i);
            }
            relay.send("STORED:1");
            expect(relay, 5, "e5");

            relay.send("REJECTED:2:{\"code\":\"PIPE_FULL\",\"message\":\"full\"}");
            relay.send("REJECTED:3:{\"code\":\"OUT_OF_SEQUENCE\",\"message\":\"\"}");
            relay.send("REJECTED:4:{\"code\":\"OUT_OF_SEQUENCE\",\"message\":\"\"}");
            assertThat(relay.next(500)).isNull();
            relay.send("REJECTED:5:{\"code\":\"OUT_OF_SEQUENCE\",\"message\":\"\"}");

            for (int i = 2; i <= 5; i++) {
                expect(relay, i, "e" + i);
            }
            relay.send("STORED:5");
            stored(futures.get(4), 5);
            assertThat(futures).allMatch(future -> !future.isCompletedExceptionally());
        }
    }

    @Test
    void whatIsRefusedForGoodFailsAlone() throws Exception {
        try (RelayProducer producer = producer().start()) {
            ScriptedPeer relay = accepted(0, 10);
            List<CompletableFuture<Stored>> futures = publish(producer, 1, 3);
            CompletableFuture<Void> flushed = producer.flush();
            for (int i = 1; i <= 3; i++) {
                expect(relay, i, "e" + i);
            }

            relay.send("REJECTED:2:{\"code\":\"BAD_EVENT\",\"message\":\"line 3\"}");
            assertThatThrownBy(() -> futures.get(1).get(10, SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .cause()
                    .isInstanceOfSatisfying(
                            RelayException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_EVENT))
                    .hasMessage("line 3");
            assertThat(flushed).isNotDone();
            relay.send("STORED:3");

            stored(futures.get(2), 3);
            flushed.get(10, SECONDS);
        }
    }

    @Test
    void whatTheRelayHasForgottenToHaveRefusedIsRefusedAgain() throws Exception {
        try (RelayProducer producer = producer().name("a").start()) {
            ScriptedPeer first = accepted(0, 10);
            List<CompletableFuture<Stored>> futures = publish(producer, 1, 3);
            for (int i = 1; i <= 3; i++) {
                expect(first, i, "e" + i);
            }
            first.send("REJECTED:2:{\"code\":\"BAD_EVENT\",\"message\":\"line 3\"}");
            await().atMost(10, SECONDS).until(() -> futures.get(1).isDone());
            first.reset();

            ScriptedPeer second = accepted(1, 10);

            expect(second, 2, "e2");
            expect(second, 3, "e3");
            second.send("REJECTED:2:{\"code\":\"BAD_EVENT\",\"message\":\"line 3\"}");
            second.send("STORED:3");
            stored(futures.get(2), 3);
        }
    }

    @Test
    void anEventOverTheLimitIsRefusedBeforeItIsSent() throws Exception {
        try (RelayProducer producer = producer().start()) {
            ScriptedPeer relay = accepted(0, 10);

            CompletableFuture<Stored> large = producer.publish(new byte[1_001]);
            publish(producer, 2, 2);

            expect(relay, 1, "e2");
            assertThatThrownBy(() -> large.get(10, SECONDS))
                    .cause()
                    .isInstanceOfSatisfying(
                            RelayException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.TOO_LARGE));
        }
    }

    @Test
    void aPublishWaitsForRoomAndATryDoesNot() throws Exception {
        try (RelayProducer producer = producer().unanswered(2, 1_000).start()) {
            ScriptedPeer relay = accepted(0, 10);
            publish(producer, 1, 2);
            expect(relay, 1, "e1");
            ByteBuffer more = ByteBuffer.wrap("e3".getBytes(StandardCharsets.UTF_8));
            assertThat(producer.tryPublish(more, Map.of())).isEmpty();
            CompletableFuture<Void> waiting = CompletableFuture.runAsync(() -> {
                try {
                    publish(producer, 3, 3);
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            await().during(Duration.ofMillis(300)).atMost(10, SECONDS).until(() -> !waiting.isDone());

            relay.send("STORED:1");

            waiting.get(10, SECONDS);
            expect(relay, 2, "e2");
            expect(relay, 3, "e3");
        }
    }

    @Test
    void headersStandBeforeTheBytes() throws Exception {
        try (RelayProducer producer = producer().headers().start()) {
            ScriptedPeer relay = accepted(0, 10);

            var unused = producer.publish(ByteBuffer.wrap(new byte[] {9}), Map.of("a", "\"ü"));

            ByteBuffer frame = relay.next().bytes().position(8);
            byte[] block = new byte[frame.getInt()];
            frame.get(block);
            assertThat(new String(block, StandardCharsets.UTF_8)).isEqualTo("{\"a\":\"\\\"ü\"}");
            assertThat(frame.get()).isEqualTo((byte) 9);
            assertThat(frame.hasRemaining()).isFalse();
        }
    }

    @Test
    void theEndFollowsTheLastAnswerAndSurvivesALostConnection() throws Exception {
        try (RelayProducer producer = producer().name("a").start()) {
            ScriptedPeer first = accepted(0, 10);
            publish(producer, 1, 1);
            CompletableFuture<Void> finished = producer.finish();
            expect(first, 1, "e1");
            assertThat(first.next(300)).isNull();
            first.send("STORED:1");
            assertThat(first.line()).isEqualTo("FINISH");
            first.reset();

            ScriptedPeer second = server.next();
            second.line();
            second.send("ERROR:{\"code\":\"PIPE_FINISHED\",\"message\":\"finished\"}");
            second.close(4410, "finished");

            finished.get(10, SECONDS);
            producer.completion().get(10, SECONDS);
        }
    }

    @Test
    void aCodeThatSaysForGoodFailsWhatIsUnanswered() throws Exception {
        try (RelayProducer producer = producer().name("a").start()) {
            ScriptedPeer relay = accepted(0, 10);
            List<CompletableFuture<Stored>> futures = publish(producer, 1, 1);
            expect(relay, 1, "e1");
            CompletableFuture<Void> flushed = producer.flush();

            relay.close(4409, "newer");

            for (CompletableFuture<?> future : List.of(futures.get(0), flushed, producer.completion())) {
                assertThatThrownBy(() -> future.get(10, SECONDS))
                        .cause()
                        .isInstanceOfSatisfying(
                                RelayClosedException.class,
                                e -> assertThat(e.closeCode()).isEqualTo(4409));
            }
            assertThat(producer.publish(new byte[1])).isCompletedExceptionally();
            assertThat(producer.flush()).isCompletedExceptionally();
        }
    }

    @Test
    void aNameThatAnotherHasUsedMeanwhileEndsIt() throws Exception {
        try (RelayProducer producer = producer().name("a").start()) {
            ScriptedPeer first = accepted(0, 10);
            publish(producer, 1, 1);
            expect(first, 1, "e1");
            first.reset();

            accepted(2, 10);

            assertThatThrownBy(() -> producer.completion().get(10, SECONDS)).hasMessageContaining("another producer");
        }
    }

    @Test
    void aCloseWaitsForAnswers() throws Exception {
        RelayProducer producer = producer().closeTimeout(Duration.ofSeconds(20)).start();
        ScriptedPeer relay = accepted(0, 10);
        List<CompletableFuture<Stored>> futures = publish(producer, 1, 1);
        expect(relay, 1, "e1");
        CompletableFuture<Void> closed = CompletableFuture.runAsync(producer::close);
        assertThat(relay.next(300)).isNull();

        relay.send("STORED:1");

        assertThat(relay.closeCode()).isEqualTo(1000);
        closed.get(10, SECONDS);
        stored(futures.get(0), 1);
    }
}
