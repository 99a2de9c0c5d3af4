package io.tabletrelay.core.pipe;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.api.Appended;
import io.tabletrelay.api.Durability;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.Payload;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.CommitConfig;
import io.tabletrelay.core.config.DeliveryConfig;
import io.tabletrelay.core.config.FullConfig;
import io.tabletrelay.core.config.OnDamage;
import io.tabletrelay.core.config.PipeSettings;
import io.tabletrelay.core.config.RetentionConfig;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.delivery.DeadLetters;
import io.tabletrelay.core.delivery.DeliveryContext;
import io.tabletrelay.core.delivery.DroppingOldest;
import io.tabletrelay.core.delivery.Retention;
import io.tabletrelay.core.metrics.PipeMetrics;
import io.tabletrelay.core.metrics.RelayMetrics;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.folder.DataDirectory;
import io.tabletrelay.core.store.folder.PipeStore;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What producers are told, and which sequences they may use, when a force fails. */
class FailedForceTest {
    private static final PipeName PIPE = new PipeName("p");
    private static final long SECOND = 1_000_000_000L;

    private final HandForcedLog log = new HandForcedLog();
    private final ArrayDeque<Runnable> diskWork = new ArrayDeque<>();
    private final PipeMetrics metrics = new RelayMetrics().pipe(PIPE);
    private long nowNanos;

    @TempDir
    private Path data;

    @SuppressWarnings("NullAway.Init")
    private DataDirectory directory;

    @SuppressWarnings("NullAway.Init")
    private PipeStore store;

    @SuppressWarnings("NullAway.Init")
    private Appends appends;

    @BeforeEach
    void open() {
        StoreConfig config = new StoreConfig(
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
        directory = DataDirectory.open(data, () -> Instant.EPOCH, () -> "boot");
        store = PipeStore.open(directory.pipe(PIPE), config, 1 << 20, () -> Instant.EPOCH);
        appends = new Appends(
                PIPE,
                log,
                this::submit,
                full(config),
                config,
                () -> 0,
                () -> nowNanos,
                new PassedSequences(),
                id -> {},
                metrics);
    }

    /** Never full: there is a log of its own behind it. */
    private FullPipe full(StoreConfig config) {
        DeliveryContext delivery =
                new DeliveryContext(DeliveryConfig.DEFAULT, () -> nowNanos, () -> Instant.EPOCH, new Random(1));
        DeadLetters deadLetters = new DeadLetters(store.deadLetterLog(), store.handledLetters());
        OpenSubscriptions subscriptions = new OpenSubscriptions(
                PIPE,
                store,
                deadLetters,
                new PipeContext(config, delivery, Runnable::run, OpenPlaces.unlimited()),
                this::submit,
                new PipeMemory(),
                metrics,
                failure -> {});
        Retention retention = new Retention(PIPE.value(), store.log(), subscriptions, this::submit, delivery);
        DroppingOldest dropping =
                new DroppingOldest(PIPE.value(), store.log(), subscriptions, this::submit, () -> nowNanos, metrics);
        return new FullPipe(config.whenFull(), store.log().oldSegments(), retention, dropping, () -> nowNanos);
    }

    @AfterEach
    void close() {
        store.close();
        directory.close();
    }

    private void submit(Runnable work, Consumer<@Nullable Throwable> then) {
        diskWork.add(() -> {
            Throwable failure = null;
            try {
                work.run();
            } catch (RuntimeException e) {
                failure = e;
            }
            then.accept(failure);
        });
    }

    /** Turns and disk work until nothing is left to do. */
    private void settle() {
        do {
            Runnable task = diskWork.poll();
            if (task != null) {
                task.run();
            }
            appends.turn();
            appends.commit().turn(appends.confirming());
        } while (!diskWork.isEmpty());
    }

    private CompletableFuture<Appended> publish(long sequence) {
        Payload payload = new Payload("b", Map.of(), ByteBuffer.allocate(8));
        ProducerSequence ofProducer = new ProducerSequence("producer", sequence);
        return add(new EventGroup(List.of(payload), ofProducer, 0), ofProducer);
    }

    private CompletableFuture<Appended> publishNothing(long sequence) {
        return add(null, new ProducerSequence("producer", sequence));
    }

    private CompletableFuture<Appended> add(@Nullable EventGroup group, ProducerSequence sequence) {
        Answer answer = new Answer();
        appends.add(new WaitingAppend(group, sequence, PipeSettings.NONE, nowNanos, answer));
        return answer;
    }

    private static RelayException refusal(CompletableFuture<?> result) {
        assertThat(result).isCompletedExceptionally();
        return (RelayException) result.handle((value, failure) -> failure).join();
    }

    @Test
    void whatWasNotCoveredIsRefusedAndItsSequencesAreFreeAgain() {
        CompletableFuture<Appended> covered = publish(1);
        settle();
        CompletableFuture<Appended> lost = publish(2);
        CompletableFuture<Appended> lostToo = publish(3);
        log.broken = true;
        settle();

        assertThat(covered.join().lastId()).isEqualTo(1);
        assertThat(refusal(lost))
                .hasMessageContaining("event was not stored")
                .hasMessageContaining("Input/output error")
                .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.PIPE_FAILED));
        assertThat(lostToo).isCompletedExceptionally();
        assertThat(appends.lastSequence("producer")).isEqualTo(1);
        assertThat(appends.commit().trouble()).contains("event was not stored");

        log.broken = false;
        nowNanos += SECOND;
        CompletableFuture<Appended> again = publish(2);
        settle();

        assertThat(again.join().firstId()).isEqualTo(4);
        assertThat(again.join().duplicate()).isFalse();
        assertThat(appends.commit().trouble()).isEmpty();
    }

    @Test
    void aPublishWithoutEventsIsConfirmedNoEarlierThanThoseBeforeItAndTakenBackWithThem() {
        assertThat(publishAndSettle(1)).isCompleted();
        CompletableFuture<Appended> nothingBefore = publishNothing(2);
        settle();
        assertThat(nothingBefore).isCompleted();
        CompletableFuture<Appended> lost = publish(3);
        CompletableFuture<Appended> nothing = publishNothing(4);
        appends.turn();
        appends.turn();
        assertThat(nothing).isNotDone();

        log.broken = true;
        settle();

        assertThat(lost).isCompletedExceptionally();
        assertThat(nothing).isCompletedExceptionally();
        assertThat(appends.lastSequence("producer")).isEqualTo(2);
    }

    @Test
    void publishesAreRefusedWithoutTouchingTheDiskUntilTheNextTryWhichWaitsTwiceAsLong() {
        assertThat(publishAndSettle(1)).isCompleted();
        log.broken = true;
        assertThat(publishAndSettle(2)).isCompletedExceptionally();
        int births = log.births;

        for (long wait = 1; wait <= 4; wait *= 2) {
            nowNanos += wait * SECOND - 1;
            assertThat(refusal(publishAndSettle(2))).hasMessageContaining("event was not stored");
            assertThat(diskWork).isEmpty();
            assertThat(log.births).isEqualTo(births);
            nowNanos += 1;
            assertThat(publishAndSettle(2)).isCompletedExceptionally();
        }
        nowNanos += 60 * SECOND;
        log.broken = false;

        assertThat(publishAndSettle(2)).isCompleted();
    }

    private CompletableFuture<Appended> publishAndSettle(long sequence) {
        CompletableFuture<Appended> answer = publish(sequence);
        settle();
        return answer;
    }
}
