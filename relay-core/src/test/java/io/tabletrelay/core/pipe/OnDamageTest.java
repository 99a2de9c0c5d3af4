package io.tabletrelay.core.pipe;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.tabletrelay.api.Appended;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.Payload;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.DeliveryConfig;
import io.tabletrelay.core.config.PipeSettings;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.delivery.BindOptions;
import io.tabletrelay.core.delivery.Consumer;
import io.tabletrelay.core.delivery.DeliveryContext;
import io.tabletrelay.core.metrics.RelayMetrics;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.folder.DataDirectory;
import io.tabletrelay.core.store.folder.PipeStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** A pipe one of whose events cannot be read, stepped by hand. */
class OnDamageTest {
    private static final PipeName PIPE = new PipeName("p");
    private static final long SECOND = 1_000_000_000L;
    private static final long LONGEST_WAIT = 60 * SECOND;

    private final ArrayDeque<Runnable> diskWork = new ArrayDeque<>();
    private final ArrayDeque<Runnable> commands = new ArrayDeque<>();
    private final RecordingSink sink = new RecordingSink();
    private final Consumer consumer = new Consumer(sink, BindOptions.DIALECT_1, DeliveryConfig.DEFAULT);
    private final ListAppender<ILoggingEvent> logged = new ListAppender<>();
    private final Path data;
    private final DataDirectory directory;
    private @Nullable TransferLoop loop;
    private long nowNanos;
    private int opens;

    OnDamageTest(@TempDir Path folder) {
        data = folder.resolve("data");
        directory = DataDirectory.open(data, () -> Instant.EPOCH, () -> "boot");
    }

    @BeforeEach
    void listen() {
        logged.start();
        logger().addAppender(logged);
        logger().setAdditive(false);
    }

    @AfterEach
    void close() {
        close(loop);
        directory.close();
        logger().detachAppender(logged);
        logger().setAdditive(true);
    }

    @Test
    void aPipeThatSkipsDamageDeliversTheOthersAndKeepsADeadLetterWithoutPayload() throws IOException {
        damaged("skip");

        TransferLoop open = start();

        assertThat(sink.payloads).containsExactly("event 1", "event 3");
        assertThat(open.status().state()).isEqualTo("OPEN");
        assertThat(open.status().deadLetters()).isEqualTo(1);
    }

    @Test
    void aPipeThatStopsAtDamageNamesItAndRefusesPublishes() throws IOException {
        damaged("stop");

        TransferLoop stopped = start();

        assertThat(sink.payloads).containsExactly("event 1");
        assertThat(stopped.status().state()).isEqualTo("FAILED");
        assertThat(stopped.status().reason())
                .contains("pipe=p", "segment=" + segment(), "ids=2 to 2", "on-damage=stop", "check-data --repair");
        assertThat(refusal(publish(stopped, "more"))).isEqualTo(ErrorCode.PIPE_FAILED);
        assertThat(sink.said).containsExactly("bound");
    }

    @Test
    void aStoppedPipeIsNeitherOpenedNorSaidAgainWhileTheDamageIsThere() throws IOException {
        damaged("stop");
        TransferLoop stopped = start();

        for (int i = 0; i < 10; i++) {
            nowNanos += LONGEST_WAIT;
            settle(stopped);
        }

        assertThat(opens).isEqualTo(1);
        assertThat(stopped.status().state()).isEqualTo("FAILED");
        assertThat(logged.list.stream()
                        .filter(line -> line.getFormattedMessage().contains("ids=2 to 2")))
                .hasSize(1);
        assertThat(logged.list.stream().filter(line -> line.getLevel() == Level.ERROR))
                .hasSize(1);
    }

    @Test
    void aStoppedPipeGoesOnOnceTheEventsCanBeReadAndAcksOfMeanwhileCount() throws IOException {
        byte[] whole = damaged("stop");
        TransferLoop stopped = start();
        stopped.lines(consumer, Said.acks(1));

        Files.write(file(), whole);
        nowNanos += LONGEST_WAIT;
        settle(stopped);

        assertThat(stopped.status().state()).isEqualTo("OPEN");
        assertThat(sink.payloads).containsExactly("event 1", "event 2", "event 3");
        assertThat(stopped.status().floor()).isEqualTo(1);
    }

    @Test
    void aDeadLetterThatCannotBeReadStopsNoPipe() throws IOException {
        damaged();
        close(start(config("skip")));
        Path letters = file(data.resolve("pipes/p/dead-letters"));
        byte[] bytes = Files.readAllBytes(letters);
        flip(bytes, "relay-reason");
        Files.write(letters, bytes);

        TransferLoop again = start(config("stop"));

        assertThat(again.status().state()).isEqualTo("OPEN");
    }

    /** Three events, the second of which is damaged; returns the file as it was. */
    private byte[] damaged(String onDamage) throws IOException {
        directory.create(PIPE, new PipeSettings(Map.of(PipeSettings.ON_DAMAGE, onDamage)));
        return damaged();
    }

    private byte[] damaged() throws IOException {
        TransferLoop first = loop(StoreConfig.DEFAULT);
        for (int i = 1; i <= 3; i++) {
            CompletableFuture<Appended> appended = publish(first, "event " + i);
            settle(first);
            assertThat(appended.join().firstId()).isEqualTo(i);
        }
        close(first);
        opens = 0;
        byte[] whole = Files.readAllBytes(file());
        byte[] bytes = whole.clone();
        flip(bytes, "event 2");
        Files.write(file(), bytes);
        return whole;
    }

    private static void flip(byte[] bytes, String text) {
        int at = new String(bytes, StandardCharsets.ISO_8859_1).indexOf(text);
        bytes[at] ^= 1;
    }

    private static StoreConfig config(String onDamage) {
        return new PipeSettings(Map.of(PipeSettings.ON_DAMAGE, onDamage)).over(StoreConfig.DEFAULT);
    }

    private Path segment() throws IOException {
        return Objects.requireNonNull(file().getParent());
    }

    private Path file() throws IOException {
        return file(data.resolve("pipes/p/events"));
    }

    private static Path file(Path log) throws IOException {
        try (Stream<Path> all = Files.walk(log.toRealPath())) {
            return all.filter(path -> path.toString().endsWith(".cq4"))
                    .findFirst()
                    .orElseThrow();
        }
    }

    private TransferLoop start() {
        return start(StoreConfig.DEFAULT);
    }

    private TransferLoop start(StoreConfig store) {
        TransferLoop started = loop(store);
        loop = started;
        started.bind(consumer);
        settle(started);
        return started;
    }

    private TransferLoop loop(StoreConfig store) {
        DeliveryContext delivery =
                new DeliveryContext(DeliveryConfig.DEFAULT, () -> nowNanos, () -> Instant.EPOCH, new Random(1));
        return new TransferLoop(
                PIPE,
                () -> {
                    opens++;
                    return PipeStore.open(directory.pipe(PIPE), store, 1 << 20, () -> Instant.EPOCH);
                },
                new PipeContext(store, delivery, diskWork::add, OpenPlaces.unlimited()),
                commands::add,
                new RelayMetrics().pipe(PIPE));
    }

    /** As the pipe's thread does: what is thrown in a turn fails the pipe. */
    private void settle(TransferLoop of) {
        while (turn(of) > 0 || !diskWork.isEmpty() || !commands.isEmpty()) {
            for (Runnable task = diskWork.poll(); task != null; task = diskWork.poll()) {
                task.run();
            }
        }
    }

    private int turn(TransferLoop of) {
        try {
            for (Runnable command = commands.poll(); command != null; command = commands.poll()) {
                command.run();
            }
            return of.doWork();
        } catch (RuntimeException failure) {
            of.fail(failure);
            return 1;
        }
    }

    private void close(@Nullable TransferLoop of) {
        if (of != null) {
            of.close(new CompletableFuture<>());
            settle(of);
        }
    }

    private static CompletableFuture<Appended> publish(TransferLoop to, String text) {
        Payload payload = new Payload("text/plain", Map.of(), ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
        Answer result = new Answer();
        to.append(new WaitingAppend(new EventGroup(List.of(payload), null, 0), null, PipeSettings.NONE, 0, result));
        return result;
    }

    private static ErrorCode refusal(CompletableFuture<?> result) {
        return result.handle((value, failure) -> ((RelayException) failure).code())
                .join();
    }

    private static Logger logger() {
        return (Logger) LoggerFactory.getLogger("io.tabletrelay.core");
    }
}
