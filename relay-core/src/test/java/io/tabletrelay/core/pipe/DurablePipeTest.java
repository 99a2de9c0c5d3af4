package io.tabletrelay.core.pipe;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.api.Appended;
import io.tabletrelay.api.Durability;
import io.tabletrelay.api.Payload;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.core.config.CommitConfig;
import io.tabletrelay.core.config.DeliveryConfig;
import io.tabletrelay.core.config.FullConfig;
import io.tabletrelay.core.config.OnDamage;
import io.tabletrelay.core.config.PipeSettings;
import io.tabletrelay.core.config.RetentionConfig;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.delivery.BindOptions;
import io.tabletrelay.core.delivery.Consumer;
import io.tabletrelay.core.delivery.DeliveryContext;
import io.tabletrelay.core.metrics.RelayMetrics;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.folder.DataDirectory;
import io.tabletrelay.core.store.folder.PipeStore;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A pipe at durability disk, stepped by hand: real files, and disk work that runs when the test says so. */
class DurablePipeTest {
    private static final PipeName PIPE = new PipeName("p");
    private static final long MILLI = 1_000_000L;

    private final ArrayDeque<Runnable> diskWork = new ArrayDeque<>();
    private final ArrayDeque<Runnable> commands = new ArrayDeque<>();
    private final RecordingSink sink = new RecordingSink();
    private final Consumer consumer = new Consumer(sink, BindOptions.DIALECT_1, DeliveryConfig.DEFAULT);
    private final DataDirectory directory;
    private final TransferLoop loop;
    private long nowNanos;

    DurablePipeTest(@TempDir Path folder) {
        directory = DataDirectory.open(folder.resolve("data"), () -> Instant.EPOCH, () -> "boot");
        loop = loop();
    }

    @BeforeEach
    void open() {
        loop.bind(consumer);
        append("first");
        settle();
        loop.lines(consumer, Said.acks(1));
        nowNanos += 1_000 * MILLI;
        settle();
        nowNanos += 1_000 * MILLI;
        settle();
        assertThat(loop.status().durableFloor()).isEqualTo(1);
    }

    @AfterEach
    void close() {
        CompletableFuture<Void> closed = new CompletableFuture<>();
        loop.close(closed);
        settle();
        assertThat(closed).isCompleted();
        directory.close();
    }

    private TransferLoop loop() {
        StoreConfig store = new StoreConfig(
                1 << 20,
                1 << 20,
                0,
                0,
                0,
                Durability.DISK,
                CommitConfig.DEFAULT,
                FullConfig.DEFAULT,
                OnDamage.SKIP,
                RetentionConfig.ACKED);
        DeliveryContext delivery =
                new DeliveryContext(DeliveryConfig.DEFAULT, () -> nowNanos, () -> Instant.EPOCH, new Random(1));
        return new TransferLoop(
                PIPE,
                () -> PipeStore.open(directory.pipe(PIPE), store, 1 << 20, () -> Instant.EPOCH),
                new PipeContext(store, delivery, diskWork::add, OpenPlaces.unlimited()),
                commands::add,
                new RelayMetrics().pipe(PIPE));
    }

    private int turn() {
        for (Runnable command = commands.poll(); command != null; command = commands.poll()) {
            command.run();
        }
        return loop.doWork();
    }

    private void settle() {
        while (turn() > 0 || !diskWork.isEmpty() || !commands.isEmpty()) {
            runDisk();
        }
    }

    private void step(TransferLoop other) {
        other.doWork();
        runDisk();
        for (Runnable command = commands.poll(); command != null; command = commands.poll()) {
            command.run();
        }
    }

    private void runDisk() {
        for (Runnable task = diskWork.poll(); task != null; task = diskWork.poll()) {
            task.run();
        }
    }

    private void append(String text) {
        assertThat(publish(text)).isNotCompletedExceptionally();
    }

    private CompletableFuture<Appended> publish(String text) {
        return publish(null, text);
    }

    private CompletableFuture<Appended> publish(@Nullable ProducerSequence sequence, String text) {
        Payload payload = new Payload("text/plain", Map.of(), ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
        Answer result = new Answer();
        loop.append(new WaitingAppend(
                new EventGroup(List.of(payload), sequence, 0), sequence, PipeSettings.NONE, 0, result));
        return result;
    }

    @Test
    void nothingIsConfirmedAndNothingDeliveredBeforeTheForce() {
        CompletableFuture<Appended> answer = publish("second");
        turn();
        turn();
        assertThat(answer).isNotDone();
        assertThat(sink.payloads).containsExactly("first");
        assertThat(loop.status().lastId()).isEqualTo(2);

        runDisk();
        turn();

        assertThat(answer.join().durability()).isEqualTo(Durability.DISK);
        assertThat(sink.payloads).containsExactly("first", "second");
        assertThat(loop.status().durability()).isEqualTo(Durability.DISK);
    }

    @Test
    void aLoneProducerWaitsForNobodyAndSilenceWantsNoTurns() {
        for (int i = 0; i < 3; i++) {
            append("x");
            turn();
            assertThat(diskWork).hasSize(1);
            settle();
        }
        loop.lines(consumer, Said.acks(2, 3, 4));
        settle();
        nowNanos += 100 * MILLI;
        settle();

        assertThat(loop.nextDeadlineNanos(Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void oneForceCoversAllThatWasAppendedBeforeItRan() {
        List<CompletableFuture<Appended>> answers = new ArrayList<>();
        append("x");
        turn();
        for (int i = 0; i < 40; i++) {
            answers.add(publish("y" + i));
            turn();
        }
        assertThat(diskWork).hasSize(1);
        assertThat(answers).noneMatch(CompletableFuture::isDone);

        while (!answers.get(0).isDone()) {
            runDisk();
            turn();
        }

        assertThat(answers).allMatch(CompletableFuture::isDone);
    }

    @Test
    void theNextForceWaitsForThoseWhoWereJustAnsweredButNoLongerThanTheInterval() {
        append("first of this run, after which its file is looked at once");
        settle();
        for (int i = 0; i < 10; i++) {
            append("a");
        }
        turn();
        append("late");
        runDisk();
        turn();
        assertThat(diskWork).as("ten are expected again").isEmpty();
        assertThat(loop.nextDeadlineNanos(Long.MAX_VALUE)).isEqualTo(nowNanos + 2 * MILLI);

        for (int i = 0; i < 10; i++) {
            append("b");
        }
        turn();

        assertThat(diskWork).as("all are there").hasSize(1);
    }

    @Test
    void anAckIsOnDiskSoonAndOneForceCoversMany() {
        for (int i = 2; i <= 9; i++) {
            append("x");
        }
        settle();
        loop.lines(consumer, Said.acks(2, 3, 5));
        turn();
        assertThat(loop.status().floor()).isEqualTo(3);
        assertThat(loop.status().durableFloor()).isEqualTo(1);
        assertThat(diskWork).isEmpty();
        assertThat(loop.nextDeadlineNanos(Long.MAX_VALUE) - nowNanos).isBetween(1L, 100 * MILLI);

        nowNanos += 75 * MILLI;
        turn();
        loop.lines(consumer, Said.acks(4));
        assertThat(diskWork).hasSize(1);
        runDisk();
        turn();

        assertThat(loop.status().floor()).isEqualTo(5);
        assertThat(loop.status().durableFloor()).isEqualTo(3);
    }

    @Test
    void aFailingEventThatAKillLeftIsNotTakenForLostBeforeItIsForced() {
        append("second");
        settle();
        loop.lines(consumer, Said.acks(-2));
        settle();
        TransferLoop restarted = loop(); // on the files of the one that was killed
        RecordingSink sinkAfter = new RecordingSink();
        Consumer consumerAfter = new Consumer(sinkAfter, BindOptions.DIALECT_1, DeliveryConfig.DEFAULT);
        restarted.bind(consumerAfter);

        while (restarted.files() != FilesState.OPEN) {
            step(restarted);
        }
        nowNanos += 2_000 * MILLI; // it is due, and the force has not run
        restarted.doWork();

        for (int steps = 0; steps < 1_000 && sinkAfter.ids.isEmpty(); steps++) {
            step(restarted);
        }

        assertThat(sinkAfter.ids).containsExactly(2L);
        assertThat(restarted.status().deadLetters()).isZero();
        restarted.close(new CompletableFuture<>());
        settle();
    }

    @Test
    void whatWasAppendedBeforeAStopIsConfirmedByIt() {
        CompletableFuture<Appended> answer = publish("last");
        turn();
        assertThat(answer).isNotDone();

        CompletableFuture<Void> closed = new CompletableFuture<>();
        loop.close(closed);
        settle();

        assertThat(answer.join().firstId()).isEqualTo(2);
    }
}
