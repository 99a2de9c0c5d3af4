package io.tabletrelay.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.tabletrelay.api.Appended;
import io.tabletrelay.api.Durability;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.api.serializer.EventSerializer;
import io.tabletrelay.api.serializer.SerializerContext;
import io.tabletrelay.api.serializer.SourceEvent;
import io.tabletrelay.core.http.FakePipe;
import io.tabletrelay.core.http.FakePipes;
import io.tabletrelay.core.metrics.RelayMetrics;
import io.tabletrelay.core.plugin.Providers;
import io.tabletrelay.core.plugin.SerializerRegistry;
import io.tabletrelay.core.plugin.TestSerializers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

class RelayPublisherTest {
    private static final PipeName PLANT = new PipeName("plant");
    private static final long MAX_OUTSTANDING_BYTES = 100_000;

    @TempDir
    Path folder;

    private final FakePipes pipes = new FakePipes();
    private final RelayMetrics metrics = new RelayMetrics();
    private SerializerRegistry serializers;
    private RelayPublisher publisher;

    @BeforeEach
    void open() {
        serializers = SerializerRegistry.load(
                Providers.of(
                        folder, EventSerializer.class, TestSerializers.Shared.class, TestSerializers.PerPipe.class),
                new SerializerContext(1 << 20, 4096));
        publisher = new RelayPublisher(
                serializers, pipes::pipe, pipes::settings, metrics, Durability.PROCESS, 4, MAX_OUTSTANDING_BYTES);
    }

    @AfterEach
    void close() {
        pipes.names().forEach(name -> pipes.pipe(name).letGo());
        publisher.close();
        serializers.close();
        metrics.close();
    }

    @Test
    void storesAllPayloadsOfAnEventAndAnswersWithTheirIds() {
        Appended appended = done(publish("shared", Map.of("count", "3"), "x", null));

        assertThat(appended).isEqualTo(new Appended(1, 3, false, Durability.PROCESS));
        assertThat(pipes.pipe(PLANT).stored()).containsExactly("x", "x", "x");
    }

    @ParameterizedTest
    @ValueSource(strings = {"shared", "per-pipe"})
    void aProducersPublishesAreAppendedInTheOrderInWhichTheyCame(String type) {
        Random random = new Random(4711);
        List<CompletionStage<Appended>> results = new ArrayList<>();
        for (int sequence = 1; sequence <= 50; sequence++) {
            for (String producer : List.of("a", "b", "c")) {
                byte[] event = {(byte) random.nextInt(100), (byte) producer.charAt(0), (byte) sequence};
                results.add(publisher.publish(
                        PLANT,
                        type,
                        Map.of("do", "yield"),
                        ByteBuffer.wrap(event),
                        new ProducerSequence(producer, sequence)));
            }
        }

        results.forEach(RelayPublisherTest::done);

        for (String producer : List.of("a", "b", "c")) {
            assertThat(pipes.pipe(PLANT).stored().stream()
                            .filter(event -> event.startsWith(producer, 1))
                            .map(event -> (int) event.charAt(2)))
                    .containsExactlyElementsOf(
                            IntStream.rangeClosed(1, 50).boxed().toList());
        }
    }

    @Test
    void aSerializerForOnePipeAtATimeIsNeverEnteredTwice() {
        List<CompletionStage<Appended>> results = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            results.add(publisher.publish(
                    PLANT, "per-pipe", Map.of("do", "yield"), ByteBuffer.wrap(new byte[] {50, 1}), null));
        }

        results.forEach(RelayPublisherTest::done);

        assertThat(pipes.pipe(PLANT).stored()).hasSize(100);
    }

    @ParameterizedTest
    @ValueSource(strings = {"relay-subscription", "Relay-Anything"})
    void headersThatAreTheRelaysOwnAreRefused(String header) {
        CompletionStage<Appended> result = publisher.start(
                "shared",
                new SourceEvent(PLANT, ByteBuffer.wrap(new byte[] {1}), Map.of()),
                null,
                null,
                new RelayPublisher.InOrder(Map.of("fine", "1", header, "b"), false, () -> null));

        assertThat(failed(result).code()).isEqualTo(ErrorCode.BAD_EVENT);
        assertThat(failed(result).reason()).contains("header=" + header + "; headers that begin with relay-");
        assertThat(pipes.pipe(PLANT).stored()).isEmpty();
    }

    @Test
    void anEventThatBecomesNothingIsAnsweredAndUsesUpItsSequence() {
        ProducerSequence first = new ProducerSequence("meter", 1);

        Appended nothing = done(publish("shared", Map.of("do", "nothing"), "x", first));
        Appended something = done(publish("shared", Map.of(), "y", new ProducerSequence("meter", 2)));

        assertThat(nothing).isEqualTo(new Appended(0, 0, false, Durability.PROCESS));
        assertThat(something.firstId()).isEqualTo(1);
        assertThat(text()).contains("relay_serializer_filtered_events_total{type=\"shared\"} 1.0");
    }

    @Test
    void aRefusedEventMakesNoPipe() {
        RelayException refused = failed(publish("shared", Map.of("do", "refuse-at-line"), "x", null));

        assertThat(refused.code()).isEqualTo(ErrorCode.BAD_EVENT);
        assertThat(pipes.names()).isEmpty();
        assertThat(text()).contains("relay_serializer_refused_events_total{type=\"shared\"} 1.0");
    }

    @Test
    void anUnknownTypeIsRefused() {
        assertThat(failed(publish("avro", Map.of(), "x", null)).code()).isEqualTo(ErrorCode.NO_SERIALIZER);
    }

    @Test
    void whatThePipeRefusesIsToldAsItIs() {
        pipes.pipe(PLANT).refuse(new RelayException(ErrorCode.STORAGE_FULL, "no space"));

        assertThat(failed(publish("shared", Map.of(), "x", null)).code()).isEqualTo(ErrorCode.STORAGE_FULL);
    }

    @Test
    void afterARefusalTheProducersNextPublishGoesOn() {
        ProducerSequence first = new ProducerSequence("meter", 1);

        RelayException refused = failed(publish("shared", Map.of("do", "refuse-at-line"), "x", first));
        Appended appended = done(publish("shared", Map.of(), "y", first));

        assertThat(refused.code()).isEqualTo(ErrorCode.BAD_EVENT);
        assertThat(appended.firstId()).isEqualTo(1);
    }

    @Test
    void isBusyWhileTooMuchIsOnItsWayToThePipesAndFreeAgainAfterwards() {
        CountDownLatch onTheWay = new CountDownLatch(1);
        publisher.close();
        publisher = new RelayPublisher(
                serializers,
                name -> {
                    awaitQuietly(onTheWay);
                    return pipes.pipe(name);
                },
                pipes::settings,
                metrics,
                Durability.PROCESS,
                4,
                MAX_OUTSTANDING_BYTES);
        String half = "x".repeat((int) MAX_OUTSTANDING_BYTES / 2 - 600);
        CompletionStage<Appended> first = publish("shared", Map.of(), half, null);
        CompletionStage<Appended> second = publish("shared", Map.of(), half, null);

        RelayException busy = failed(publish("shared", Map.of(), half, null));
        onTheWay.countDown();

        assertThat(busy.code()).isEqualTo(ErrorCode.BUSY);
        assertThat(done(first).lastId() + done(second).lastId()).isEqualTo(3);
        assertThat(done(publish("shared", Map.of(), half, null)).lastId()).isEqualTo(3);
    }

    @Test
    void aPipeThatDoesNotAnswerTakesNoRoomFromOthers() {
        PipeName other = new PipeName("other");
        pipes.pipe(PLANT).hold();
        String most = "x".repeat((int) MAX_OUTSTANDING_BYTES - 600);
        CompletionStage<Appended> held = publish("shared", Map.of(), most, null);
        await().atMost(Duration.ofSeconds(20)).until(() -> pipes.pipe(PLANT).heldUp() == 1);

        await().atMost(Duration.ofSeconds(20))
                .ignoreExceptions() // the room is given back just after the pipe has it
                .untilAsserted(() -> assertThat(done(publisher.publish(other, "shared", Map.of(), bytes(most), null))
                                .lastId())
                        .isPositive());
        assertThat(held.toCompletableFuture()).isNotDone();
    }

    @Test
    void aProducersBacklogDoesNotGoBeforeAnothersNextEvent() {
        int backlog = 50;
        PipeName other = new PipeName("other");
        CountDownLatch onTheWay = new CountDownLatch(1);
        List<PipeName> order = Collections.synchronizedList(new ArrayList<>());
        try (RelayPublisher narrow = new RelayPublisher(
                serializers,
                name -> {
                    awaitQuietly(onTheWay);
                    order.add(name);
                    return pipes.pipe(name);
                },
                pipes::settings,
                metrics,
                Durability.PROCESS,
                1,
                MAX_OUTSTANDING_BYTES)) {
            List<CompletionStage<Appended>> publishes = new ArrayList<>();
            for (int i = 1; i <= backlog; i++) {
                publishes.add(narrow.publish(PLANT, "shared", Map.of(), bytes("x"), new ProducerSequence("busy", i)));
            }
            publishes.add(narrow.publish(other, "shared", bytes("y")));

            onTheWay.countDown();

            publishes.forEach(RelayPublisherTest::done);
            assertThat(order.indexOf(other)).isLessThan(5);
        }
    }

    @Test
    void whatItsPublisherGaveUpTakesNoRoomForEver() {
        CountDownLatch onTheWay = new CountDownLatch(1);
        String most = "x".repeat((int) MAX_OUTSTANDING_BYTES - 1200);
        try (RelayPublisher narrow = new RelayPublisher(
                serializers,
                name -> {
                    awaitQuietly(onTheWay);
                    return pipes.pipe(name);
                },
                pipes::settings,
                metrics,
                Durability.PROCESS,
                1,
                MAX_OUTSTANDING_BYTES)) {
            CompletionStage<Appended> first = narrow.publish(PLANT, "shared", bytes(""));
            narrow.publish(PLANT, "shared", bytes(most)).toCompletableFuture().cancel(true);
            onTheWay.countDown();
            done(first);

            await().atMost(Duration.ofSeconds(20))
                    .ignoreExceptions() // busy until the one that was given up has gone its way
                    .untilAsserted(() -> assertThat(done(narrow.publish(PLANT, "shared", bytes(most)))
                                    .lastId())
                            .isPositive());
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void refusedPublishesGiveTheirBytesBack() {
        String most = "x".repeat((int) MAX_OUTSTANDING_BYTES - 600);

        for (int i = 0; i < 5; i++) {
            assertThat(failed(publish("shared", Map.of("do", "refuse-at-byte"), most, null))
                            .code())
                    .isEqualTo(ErrorCode.BAD_EVENT);
        }

        assertThat(done(publish("shared", Map.of(), most, null)).lastId()).isEqualTo(1);
    }

    @Test
    void whatCouldNeverFitIsTooLarge() {
        String tooMuch = "x".repeat((int) MAX_OUTSTANDING_BYTES + 1);

        assertThat(failed(publish("shared", Map.of(), tooMuch, null)).code()).isEqualTo(ErrorCode.TOO_LARGE);
    }

    @Test
    void closingWaitsForWhatIsOnItsWay() {
        FakePipe plant = pipes.pipe(PLANT);
        plant.hold();
        CompletionStage<Appended> running = publish("shared", Map.of(), "x", null);
        await().atMost(Duration.ofSeconds(20)).until(() -> plant.heldUp() == 1);

        CompletableFuture<Void> closing = CompletableFuture.runAsync(publisher::close);
        await("new publishes are refused")
                .atMost(Duration.ofSeconds(20))
                .until(() -> catchThrowable(() -> done(publish("shared", Map.of("do", "nothing"), "y", null))) != null);
        assertThat(closing).isNotDone();
        plant.letGo();
        closing.join();

        assertThat(done(running).firstId()).isEqualTo(1);
        assertThat(failed(publish("shared", Map.of(), "y", null)).code()).isEqualTo(ErrorCode.STOPPING);
    }

    @Test
    void closingAnswersWhatDoesNotEndInTime() {
        pipes.pipe(PLANT).hold();
        RelayPublisher impatient = new RelayPublisher(
                serializers, pipes::pipe, pipes::settings, metrics, Durability.PROCESS, 1, MAX_OUTSTANDING_BYTES);
        CompletionStage<Appended> stuck = impatient.publish(PLANT, "shared", bytes("x"));

        Logger log = (Logger) LoggerFactory.getLogger(RelayPublisher.class);
        log.setLevel(Level.ERROR);
        impatient.close(Duration.ofMillis(50));
        log.setLevel(null);

        assertThat(failed(stuck).code()).isEqualTo(ErrorCode.STOPPING);
    }

    private CompletionStage<Appended> publish(
            String type, Map<String, String> options, String text, @Nullable ProducerSequence sequence) {
        return publisher.publish(PLANT, type, options, bytes(text), sequence);
    }

    private String text() {
        return new String(metrics.prometheusText(), StandardCharsets.UTF_8);
    }

    @Test
    void aSequenceRefusedForGoodIsUsedUpWhereThatIsAsked() {
        CompletionStage<Appended> refused = startInOrder(1, Map.of("do", "refuse-at-line"));
        CompletionStage<Appended> next = startInOrder(2, Map.of());
        CompletionStage<Appended> behindAGap = startInOrder(4, Map.of("do", "refuse-at-line"));

        assertThat(failed(refused).code()).isEqualTo(ErrorCode.BAD_EVENT);
        assertThat(done(next).lastId()).isEqualTo(1);
        assertThat(failed(behindAGap).code()).isEqualTo(ErrorCode.OUT_OF_SEQUENCE);
        assertThat(pipes.pipe(PLANT).lastSequence("a").toCompletableFuture()).isCompletedWithValue(2L);
    }

    private CompletionStage<Appended> startInOrder(long sequence, Map<String, String> options) {
        return publisher.start(
                "shared",
                new SourceEvent(PLANT, ByteBuffer.wrap(new byte[] {1}), options),
                new ProducerSequence("a", sequence),
                RelayPublisher.lane(PLANT, "a"),
                new RelayPublisher.InOrder(Map.of("k", "v"), true, () -> null));
    }

    private static Appended done(CompletionStage<Appended> result) {
        return result.toCompletableFuture().orTimeout(20, TimeUnit.SECONDS).join();
    }

    private static RelayException failed(CompletionStage<Appended> result) {
        Throwable failure = catchThrowable(() -> done(result));
        assertThat(failure).isInstanceOf(CompletionException.class).hasCauseInstanceOf(RelayException.class);
        return (RelayException) Objects.requireNonNull(failure.getCause());
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }
}
