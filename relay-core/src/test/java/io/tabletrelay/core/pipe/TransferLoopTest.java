package io.tabletrelay.core.pipe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.tabletrelay.api.Appended;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.Payload;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.DeliveryConfig;
import io.tabletrelay.core.config.PipeSettings;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.delivery.BindOptions;
import io.tabletrelay.core.delivery.Consumer;
import io.tabletrelay.core.delivery.DeliveryContext;
import io.tabletrelay.core.metrics.RelayMetrics;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.SmallFile;
import io.tabletrelay.core.store.StoreException;
import io.tabletrelay.core.store.folder.DataDirectory;
import io.tabletrelay.core.store.folder.PipeStore;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
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
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Steps a loop by hand: real files, but no thread, and no clock but the test's. */
class TransferLoopTest {
    private static final PipeName PIPE = new PipeName("p");
    private static final long SECOND = 1_000_000_000L;

    private final ArrayDeque<Runnable> diskWork = new ArrayDeque<>();
    private final ArrayDeque<Runnable> commands = new ArrayDeque<>();
    private final RecordingSink sink = new RecordingSink();
    private final Consumer consumer = new Consumer(sink, BindOptions.DIALECT_1, DeliveryConfig.DEFAULT);
    private final DataDirectory directory;
    private TransferLoop loop;
    private long nowNanos;
    private int brokenOpens;
    private boolean full;
    private boolean openedTwice;

    TransferLoopTest(@TempDir Path folder) {
        directory = DataDirectory.open(folder.resolve("data"), () -> Instant.EPOCH, () -> "boot");
        loop = loop(StoreConfig.DEFAULT);
    }

    @BeforeEach
    void nothingIsOpenYet() {
        assertThat(loop.files()).isEqualTo(FilesState.OPENING);
    }

    @AfterEach
    void close() {
        CompletableFuture<Void> closed = new CompletableFuture<>();
        loop.close(closed);
        settle();
        assertThat(closed).isCompleted();
        directory.close();
    }

    private TransferLoop loop(StoreConfig store) {
        DeliveryContext delivery =
                new DeliveryContext(DeliveryConfig.DEFAULT, () -> nowNanos, () -> Instant.EPOCH, new Random(1));
        return new TransferLoop(
                PIPE,
                () -> {
                    openedTwice |= loop.files() == FilesState.OPEN;
                    if (full) {
                        throw new StoreException(ErrorCode.STORAGE_FULL, "no space left on device");
                    }
                    if (brokenOpens > 0) {
                        brokenOpens--;
                        throw new StoreException(ErrorCode.PIPE_FAILED, "disk is on fire");
                    }
                    return PipeStore.open(directory.pipe(PIPE), store, 1 << 20, () -> Instant.EPOCH);
                },
                new PipeContext(store, delivery, diskWork::add, OpenPlaces.unlimited()),
                commands::add,
                new RelayMetrics().pipe(PIPE));
    }

    /** One turn, without what the disk threads would have done meanwhile. */
    private int turn() {
        for (Runnable command = commands.poll(); command != null; command = commands.poll()) {
            command.run();
        }
        return loop.doWork();
    }

    /** Turns and disk work until nothing is left to do. */
    private void settle() {
        while (turn() > 0 || !diskWork.isEmpty() || !commands.isEmpty()) {
            for (Runnable task = diskWork.poll(); task != null; task = diskWork.poll()) {
                task.run();
            }
        }
    }

    private CompletableFuture<Appended> publish(@Nullable ProducerSequence sequence, String... texts) {
        List<Payload> payloads = new ArrayList<>();
        for (String text : texts) {
            payloads.add(new Payload("text/plain", Map.of(), ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8))));
        }
        Answer result = new Answer();
        loop.append(new WaitingAppend(
                payloads.isEmpty() ? null : new EventGroup(payloads, sequence, 0),
                sequence,
                PipeSettings.NONE,
                nowNanos,
                result));
        return result;
    }

    private void append(@Nullable ProducerSequence sequence, String... texts) {
        assertThat(publish(sequence, texts)).isNotCompletedExceptionally();
    }

    private static ErrorCode refusal(CompletableFuture<?> result) {
        return result.handle((value, failure) -> ((RelayException) failure).code())
                .join();
    }

    @Test
    void aPublishThatCameBeforeThePipeWasOpenIsAppendedOnceItIs() {
        CompletableFuture<Appended> result = publish(null, "a", "b");
        turn();
        assertThat(result).isNotDone();

        settle();
        assertThat(result).isCompletedWithValueMatching(appended -> appended.firstId() == 1 && appended.lastId() == 2);
        assertThat(loop.status().lastId()).isEqualTo(2);
    }

    @Test
    void theFirstEventOfTheFirstPipeLeavesInTheTurnThatAppendedIt() {
        loop.bind(consumer);
        settle();
        append(null, "first");
        settle();
        sink.ids.clear();

        append(null, "second");
        turn();

        assertThat(sink.ids).containsExactly(2L);
    }

    @Test
    void anEventAfterAnHourOfSilenceLeavesAtOnceAndSilenceWantsNoTurns() {
        loop.bind(consumer);
        append(null, "a");
        settle();
        loop.lines(consumer, Said.acks(1));
        settle();
        assertThat(loop.nextDeadlineNanos(Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE);

        nowNanos += 3_600 * SECOND;
        append(null, "b");
        turn();

        assertThat(sink.payloads).containsExactly("a", "b");
    }

    @Test
    void manyPublishesAreAppendedInOneTurnInTheirOrder() {
        settle();
        List<CompletableFuture<Appended>> results = new ArrayList<>();
        for (int i = 1; i <= 500; i++) {
            results.add(publish(null, "e" + i));
        }
        settle();

        for (int i = 1; i <= 500; i++) {
            assertThat(results.get(i - 1).join().firstId()).isEqualTo(i);
        }
    }

    @Test
    void readyIsSaidOnlyWhenThePipeIsOpen() {
        brokenOpens = 1;
        loop.bind(consumer);
        turn();
        assertThat(sink.said).isEmpty();
        settle();
        assertThat(loop.files()).isEqualTo(FilesState.FAILED);
        assertThat(sink.said).isEmpty();

        nowNanos += SECOND;
        settle();
        assertThat(sink.said).containsExactly("bound");
    }

    @Test
    void acksThatComeWhileThePipeIsDownCountOnceItIsOpenAgain() {
        loop.bind(consumer);
        append(null, "a", "b");
        settle();
        loop.fail(new InternalError("a fault occurred in an unsafe memory access"));
        settle();
        loop.lines(consumer, Said.acks(2));
        nowNanos += SECOND;
        settle();

        assertThat(sink.ids).containsExactly(1L, 2L, 1L);
    }

    private void reopen() {
        CompletableFuture<Void> closed = new CompletableFuture<>();
        loop.close(closed);
        settle();
        loop = loop(StoreConfig.DEFAULT);
    }

    @Test
    void aRepeatedSequenceIsAnsweredWithTheIdsStoredThenAndAGapIsRefused() {
        CompletableFuture<Appended> first = publish(new ProducerSequence("x", 1), "a", "b");
        CompletableFuture<Appended> repeat = publish(new ProducerSequence("x", 1), "a", "b");
        CompletableFuture<Appended> gap = publish(new ProducerSequence("x", 3), "c");
        CompletableFuture<Appended> next = publish(new ProducerSequence("x", 2), "c");
        settle();

        assertThat(first.join())
                .isEqualTo(new Appended(1, 2, false, first.join().durability()));
        assertThat(repeat.join())
                .isEqualTo(new Appended(1, 2, true, first.join().durability()));
        assertThat(refusal(gap)).isEqualTo(ErrorCode.OUT_OF_SEQUENCE);
        assertThat(next.join().firstId()).isEqualTo(3);
    }

    @Test
    void aRepeatedSequenceIsRecognizedAfterAReopen() {
        append(new ProducerSequence("x", 1), "a", "b");
        settle();
        reopen();
        CompletableFuture<Appended> repeat = publish(new ProducerSequence("x", 1), "a", "b");
        settle();

        assertThat(repeat.join().duplicate()).isTrue();
        assertThat(repeat.join().firstId()).isEqualTo(1);
        assertThat(repeat.join().lastId()).isEqualTo(2);
    }

    @Test
    void aRepeatOfLongAgoIsAnsweredWithItsIdsToo() {
        for (int sequence = 1; sequence <= 200; sequence++) {
            append(new ProducerSequence("x", sequence), "a", "b");
        }
        settle();
        CompletableFuture<Appended> repeat = publish(new ProducerSequence("x", 3), "a", "b");
        settle();

        assertThat(repeat.join().firstId()).isEqualTo(5);
        assertThat(repeat.join().lastId()).isEqualTo(6);
        assertThat(repeat.join().duplicate()).isTrue();
    }

    @Test
    void aPublishWithoutEventsUsesUpItsSequence() {
        CompletableFuture<Appended> first = publish(new ProducerSequence("x", 1), "a");
        CompletableFuture<Appended> nothing = publish(new ProducerSequence("x", 2));
        CompletableFuture<Appended> third = publish(new ProducerSequence("x", 3), "c");
        CompletableFuture<Appended> early = publish(new ProducerSequence("x", 5));
        settle();

        assertThat(first.join().lastId()).isEqualTo(1);
        assertThat(nothing.join().lastId()).isZero();
        assertThat(third.join().lastId()).isEqualTo(2);
        assertThat(refusal(early)).isEqualTo(ErrorCode.OUT_OF_SEQUENCE);
    }

    @Test
    void aFullPipeRefusesAndAcceptsAgainWhenItsBacklogHasShrunk() {
        StoreConfig defaults = StoreConfig.DEFAULT;
        loop = loop(
                new StoreConfig(defaults.segmentBytes(), defaults.maxEventBytes(), 0, 3, defaults.diskReserveBytes()));
        loop.bind(consumer);
        append(null, "a", "b", "c");
        CompletableFuture<Appended> tooMany = publish(null, "d");
        settle();
        assertThat(refusal(tooMany)).isEqualTo(ErrorCode.PIPE_FULL);

        loop.lines(consumer, Said.acks(2));
        settle();
        CompletableFuture<Appended> fits = publish(null, "d");
        settle();
        assertThat(fits.join().firstId()).isEqualTo(4);
    }

    @Test
    void aPipeThatCannotOpenRefusesPublishesKeepsItsConsumerAndIsOpenedAgain() {
        brokenOpens = 2;
        loop.bind(consumer);
        CompletableFuture<Appended> before = publish(null, "a");
        settle();
        assertThat(loop.files()).isEqualTo(FilesState.FAILED);
        assertThat(loop.status().reason()).contains("disk is on fire");
        assertThat(refusal(before)).isEqualTo(ErrorCode.PIPE_FAILED);
        assertThat(refusal(publish(null, "b"))).isEqualTo(ErrorCode.PIPE_FAILED);

        nowNanos = loop.nextDeadlineNanos(Long.MAX_VALUE);
        settle();
        assertThat(loop.files()).isEqualTo(FilesState.FAILED);
        assertThat(loop.nextDeadlineNanos(Long.MAX_VALUE) - nowNanos).isEqualTo(2 * SECOND);

        nowNanos += 2 * SECOND;
        settle();
        append(null, "c");
        settle();
        assertThat(loop.files()).isEqualTo(FilesState.OPEN);
        assertThat(sink.said).containsExactly("bound");
        assertThat(sink.payloads).containsExactly("c");
    }

    @Test
    void aPipeThatCannotBeMadeOnAFullDiskSaysSo() {
        full = true;
        CompletableFuture<Appended> before = publish(null, "a");
        settle();

        assertThat(refusal(before)).isEqualTo(ErrorCode.STORAGE_FULL);
        assertThat(refusal(publish(null, "b"))).isEqualTo(ErrorCode.STORAGE_FULL);
    }

    @Test
    void afterAFailureWhatWasInFlightComesAgainAndNothingIsLost() {
        loop.bind(consumer);
        append(null, "a", "b");
        settle();
        loop.fail(new InternalError("a fault occurred in an unsafe memory access"));
        settle();
        assertThat(loop.files()).isEqualTo(FilesState.FAILED);

        nowNanos += SECOND;
        settle();
        assertThat(sink.payloads).containsExactly("a", "b", "a", "b");
    }

    @Test
    void whileStoppingNothingIsTakenOrSentButAcksCount() {
        loop.bind(consumer);
        append(null, "a", "b");
        settle();
        loop.stopSending();
        assertThat(refusal(publish(null, "c"))).isEqualTo(ErrorCode.STOPPING);
        loop.lines(consumer, Said.acks(1, 2));
        settle();
        assertThat(loop.status().floor()).isEqualTo(2);
        assertThat(loop.status().inFlight()).isZero();
    }

    @Test
    void aSlowOpeningWhosePipeFailedMeanwhileDoesNotCountBesideTheNextOne() {
        turn();
        loop.fail(new IllegalStateException("a task of before came to nothing"));
        nowNanos += SECOND;
        turn();
        assertThat(loop.files()).isEqualTo(FilesState.OPENING);

        settle();

        assertThat(openedTwice).isFalse();
        assertThat(publish(null, "a")).isNotCompletedExceptionally();
        settle();
        assertThat(loop.status().lastId()).isOne();
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void attemptsThatAFullDiskRefusesAreWrittenLaterAndThePipeStaysOpen() throws IOException {
        loop.bind(consumer);
        append(null, "a", "b");
        settle();
        Path attempts = directory.pipe(PIPE).attemptsFile("default");
        Files.createSymbolicLink(SmallFile.temp(attempts), Path.of("/dev/full"));

        loop.lines(consumer, Said.acks(-1));
        settle();
        assertThat(loop.files()).isEqualTo(FilesState.OPEN);
        assertThat(attempts).doesNotExist();
        assertThat(loop.nextDeadlineNanos(Long.MAX_VALUE)).isLessThanOrEqualTo(SECOND);

        nowNanos += SECOND;
        settle();
        assertThat(attempts).isNotEmptyFile();
    }

    @Test
    void whatIsFoundTooLargeWhileThePipeStopsIsAnsweredOnce() {
        settle();
        CompletableFuture<Appended> tooLarge = publish(null, "x".repeat(StoreConfig.DEFAULT.maxEventBytes() + 1));
        turn();
        loop.stopSending();
        settle();

        assertThat(refusal(tooLarge)).isEqualTo(ErrorCode.STOPPING);
    }

    @Test
    void aConnectionThatLeavesBeforeThePipeOpensIsForgotten() {
        brokenOpens = 1;
        settle();
        assertThat(loop.files()).isEqualTo(FilesState.FAILED);

        WeakReference<Consumer> left = bindAndLeave();

        await("it is garbage").untilAsserted(() -> {
            System.gc();
            assertThat(left.get()).isNull();
        });
    }

    private WeakReference<Consumer> bindAndLeave() {
        Consumer brief = new Consumer(new RecordingSink(), BindOptions.DIALECT_1, DeliveryConfig.DEFAULT);
        loop.bind(brief);
        loop.gone(brief);
        return new WeakReference<>(brief);
    }

    @Test
    void anAckFromAConnectionThatWasNeverBoundIsDropped() {
        Consumer stranger = new Consumer(new RecordingSink(), BindOptions.DIALECT_1, DeliveryConfig.DEFAULT);
        loop.bind(consumer);
        append(null, "a");
        settle();

        loop.lines(stranger, Said.acks(1));
        settle();

        assertThat(loop.status().floor()).isZero();
    }
}
