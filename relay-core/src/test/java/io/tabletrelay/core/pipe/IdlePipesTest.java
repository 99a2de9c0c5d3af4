package io.tabletrelay.core.pipe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.PipeSettings;
import io.tabletrelay.core.pipe.SteppedPipes.Stepped;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Three pipes, one of which may be open; two in need. */
class IdlePipesTest {
    private static final long SECOND = 1_000_000_000L;

    private final SteppedPipes all;
    private final Stepped a;
    private final Stepped b;
    private final Stepped c;

    IdlePipesTest(@TempDir Path folder) {
        all = new SteppedPipes(folder, 3, 1, 2);
        a = all.pipes.get(0);
        b = all.pipes.get(1);
        c = all.pipes.get(2);
        all.settle();
    }

    @AfterEach
    void close() {
        all.close();
    }

    @Test
    void pipesTakeTurnsInBeingOpen() {
        assertThat(states()).containsOnlyOnce("OPEN").containsOnly("OPEN", "AT_REST");

        for (Stepped pipe : all.pipes) {
            CompletableFuture<?> published = pipe.publish("x");
            all.settle();
            assertThat(published).isCompleted();
            assertThat(pipe.state()).isEqualTo("OPEN");
            assertThat(states()).containsOnlyOnce("OPEN");
        }
    }

    @Test
    void aBoundConsumerStaysBoundAndGetsTheNextEventOfAPipeThatWasClosed() {
        a.bindAnew();
        all.settle();
        deliverAndAck(a, "first");
        closeByUsing(b);
        assertThat(a.state()).isEqualTo("AT_REST");
        assertThat(a.loop.status().consumer()).isTrue();

        a.append("second");
        all.settle();

        assertThat(a.sink.said).containsExactly("bound");
        assertThat(a.sink.payloads).containsExactly("first", "second");
    }

    @Test
    void aPipeWithEventsInFlightIsNotClosed() {
        a.bindAnew();
        a.append("x");
        all.settle();
        assertThat(a.sink.ids).containsExactly(1L);

        b.append("y");
        all.settle();

        assertThat(a.state()).isEqualTo("OPEN");
        assertThat(b.state()).isEqualTo("OPENING");
        a.loop.lines(a.consumer, Said.acks(1));
        all.settle();
        assertThat(b.state()).isEqualTo("OPEN");
        assertThat(a.state()).isEqualTo("AT_REST");
    }

    @Test
    void aBacklogWithoutAConsumerDoesNotKeepAPipeOpenAndIsDeliveredToTheNextConsumer() {
        a.append("x");
        all.settle();
        closeByUsing(b);
        assertThat(a.state()).isEqualTo("AT_REST");
        assertThat(a.loop.snapshot().backlog()).isEqualTo(1);

        a.bindAnew();
        all.settle();

        assertThat(a.sink.payloads).containsExactly("x");
    }

    @Test
    void aConsumerIsBoundToAClosedPipeThatHasNothingForItWithoutOpeningIt() {
        closeByUsing(b);
        assertThat(a.state()).isEqualTo("AT_REST");
        int opens = a.opens;

        a.bindAnew();
        all.settle();

        assertThat(a.sink.said).containsExactly("bound");
        assertThat(a.opens).isEqualTo(opens);
    }

    @Test
    void aLateAckOpensThePipeAndCounts() {
        a.bindAnew();
        a.append("x");
        all.settle();
        a.loop.gone(a.consumer);
        all.settle();
        closeByUsing(b);
        assertThat(a.state()).isEqualTo("AT_REST");

        a.loop.lines(a.consumer, Said.acks(1));
        all.settle();
        assertThat(a.loop.status().floor()).isEqualTo(1);
        closeByUsing(b);
        a.bindAnew();
        all.settle();

        assertThat(a.sink.ids).isEmpty();
    }

    @Test
    void aConsumerThatWasTakenOverFromWhileThePipeWasClosedLosesNothing() {
        a.append("x");
        all.settle();
        closeByUsing(b);
        a.bindAnew();
        a.loop.gone(a.consumer);
        a.bindAnew();
        all.settle();

        assertThat(a.sink.payloads).containsExactly("x");
    }

    @Test
    void idsAndTheSegmentGoOnOverManyCloses() throws IOException {
        for (int n = 1; n <= 20; n++) {
            for (Stepped pipe : all.pipes) {
                Answer answer = pipe.publish("e" + n);
                all.settle();
                long id = n;
                assertThat(answer).isCompletedWithValueMatching(appended -> appended.firstId() == id);
            }
        }

        assertThat(a.opens).isGreaterThanOrEqualTo(20);
        try (Stream<Path> segments = Files.list(a.folder().resolve("events"))) {
            assertThat(segments).hasSize(1);
        }
    }

    @Test
    void gaugesOfAClosedPipeShowWhatTheyShowedLast() {
        a.append("x");
        all.settle();
        LoopedPipe.Snapshot open = a.loop.snapshot();

        closeByUsing(b);

        assertThat(a.loop.snapshot()).isEqualTo(open);
        assertThat(open.backlog()).isEqualTo(1);
    }

    @Test
    void aCommandThatComesWhileThePipeIsBeingClosedIsDoneWhenItIsOpenAgain() {
        closeByUsing(a);
        b.append("y");
        while (!a.state().equals("AT_REST")) {
            b.turn();
            a.turn();
        }
        assertThat(a.diskWork).isNotEmpty();

        Answer answer = a.publish("x");
        all.settle();

        assertThat(answer).isCompletedWithValueMatching(appended -> appended.firstId() == 2);
    }

    @Test
    void pipesThatAllHaveSomethingToDoAreOpenedUpToWhatFitsAndThenRefuse() {
        for (Stepped pipe : List.of(a, b)) {
            pipe.bindAnew();
            pipe.append("x");
            all.settle();
            all.nowNanos += SECOND;
            all.settle();
            assertThat(pipe.sink.ids).containsExactly(1L);
        }

        Answer refused = c.publish("z");
        all.settle();
        assertThat(refused).isNotDone();
        all.nowNanos += 11 * SECOND;
        all.settle();

        assertThat(refused.handle((appended, failure) -> ((RelayException) failure).code()))
                .isCompletedWithValue(ErrorCode.BUSY);
        assertThat(c.opens).isLessThanOrEqualTo(1);
        a.loop.lines(a.consumer, Said.acks(1));
        b.loop.lines(b.consumer, Said.acks(1));
        Answer later = c.publish("z");
        all.settle();
        assertThat(later).isCompleted();
    }

    @Test
    void damageDoneWhileAPipeWasClosedIsFoundAndThePipeGoesOn() throws IOException {
        a.append("first");
        all.settle();
        closeByUsing(b);
        Path file;
        try (Stream<Path> files = Files.walk(a.folder())) {
            file = files.filter(path -> path.toString().endsWith(".cq4"))
                    .findFirst()
                    .orElseThrow();
        }
        try (RandomAccessFile damaged = new RandomAccessFile(file.toFile(), "rw")) {
            damaged.setLength(300);
        }

        Answer answer = a.publish("second");
        all.settle();
        assertThat(answer).isCompleted();
        a.bindAnew();
        all.settle();
        assertThat(a.sink.payloads).contains("second").doesNotContain("first");
    }

    @Test
    void aSequenceThatStoredNothingIsUsedUpAlsoAfterAClose() {
        ProducerSequence first = new ProducerSequence("p", 1);
        a.loop.append(new WaitingAppend(null, first, PipeSettings.NONE, 0, new Answer()));
        all.settle();
        closeByUsing(b);

        Answer repeated = new Answer();
        a.loop.append(new WaitingAppend(null, first, PipeSettings.NONE, 0, repeated));
        all.settle();

        assertThat(repeated).isCompletedWithValueMatching(appended -> appended.duplicate());
    }

    @Test
    void aStopWhilePipesWaitForTheirPlacesAnswersThem() {
        a.bindAnew();
        a.append("x");
        b.bindAnew();
        b.append("x");
        all.settle();
        Answer waits = c.publish("z");
        c.turn();

        c.loop.stopSending();
        all.settle();

        assertThat(waits.handle((appended, failure) -> ((RelayException) failure).code()))
                .isCompletedWithValue(ErrorCode.STOPPING);
    }

    @Test
    void segmentsThatAreKeptForTheirAgeAreDeletedInTimeThoughTheirPipeIsClosedMeanwhile(@TempDir Path other)
            throws IOException {
        PipeSettings tenSeconds = new PipeSettings(Map.of(PipeSettings.RETAIN, "10s"));
        for (int run = 1; run <= 2; run++) { // each run begins a segment
            try (SteppedPipes two = new SteppedPipes(other, 2, 1, 2, tenSeconds)) {
                Stepped kept = two.pipes.get(0);
                kept.bindAnew();
                kept.append("x");
                two.settle();
                kept.loop.lines(kept.consumer, Said.acks(run));
                two.settle();
                assertThat(segmentsOf(kept)).isEqualTo(run);

                two.pipes.get(1).append("other");
                two.settle();
                assertThat(kept.state()).isEqualTo("AT_REST");
                two.nowNanos += 9 * SECOND;
                two.settle();
                assertThat(segmentsOf(kept)).isEqualTo(run);
                two.nowNanos += 2 * SECOND;
                two.settle();

                assertThat(segmentsOf(kept)).isEqualTo(1);
            }
        }
    }

    @Test
    void whatIsWrongWithAnOpenPipeIsSaidInTheListToo() throws IOException {
        Files.createDirectories(a.folder().resolve("pipe.json.tmp/in-the-way"));

        Answer answer = a.publish("x");
        all.settle();

        assertThat(answer).isCompletedExceptionally();
        assertThat(a.loop.status().reason()).contains("id mark cannot be raised");
        assertThat(a.loop.standing(Standing.NEW).reason())
                .isEqualTo(a.loop.status().reason());
        Files.delete(a.folder().resolve("pipe.json.tmp/in-the-way"));
        Files.delete(a.folder().resolve("pipe.json.tmp"));
    }

    @Test
    void aPipeThatTheDiskRefusedKeepsItsPlaceNoLongerThanPublishesAreRefused() throws IOException {
        Files.createDirectories(a.folder().resolve("pipe.json.tmp/in-the-way"));
        Answer refused = a.publish("x");
        all.settle();
        assertThat(refused).isCompletedExceptionally();
        Files.delete(a.folder().resolve("pipe.json.tmp/in-the-way"));
        Files.delete(a.folder().resolve("pipe.json.tmp"));
        assertThat(a.loop.nextDeadlineNanos(Long.MAX_VALUE)).isLessThanOrEqualTo(all.nowNanos + SECOND);

        all.nowNanos += SECOND;
        all.settle();
        closeByUsing(b);

        assertThat(a.state()).isEqualTo("AT_REST");
        Answer stored = a.publish("y");
        all.settle();
        assertThat(stored).isCompletedWithValueMatching(appended -> appended.firstId() == 1);
    }

    private static long segmentsOf(Stepped pipe) throws IOException {
        try (Stream<Path> segments = Files.list(pipe.folder().resolve("events"))) {
            return segments.count();
        }
    }

    private List<String> states() {
        return all.pipes.stream().map(Stepped::state).toList();
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aPlaceIsGivenOnOnlyOnceTheFilesOfWhoHadItAreClosed() throws IOException {
        a.append("x");
        all.settle();
        assertThat(handles(a)).isPositive();

        b.append("y");
        for (int step = 0; step < 20; step++) { // the disk is slow to close
            a.turn();
            b.turn();
            b.diskStep();
        }

        assertThat(a.diskWork).isNotEmpty();
        assertThat(handles(a)).isPositive();
        assertThat(handles(b)).isZero();
        assertThat(b.state()).isEqualTo("OPENING");
        all.settle();
        assertThat(b.state()).isEqualTo("OPEN");
        assertThat(handles(b)).isPositive();
        await().untilAsserted(() -> assertThat(handles(a)).isZero());
    }

    /** Of this process, in the pipe's folder. */
    private static long handles(Stepped pipe) throws IOException {
        long count = 0;
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            for (Path handle : all.toList()) {
                count += Files.isSymbolicLink(handle)
                                && Files.readSymbolicLink(handle).startsWith(pipe.folder())
                        ? 1
                        : 0;
            }
        }
        return count;
    }

    private void closeByUsing(Stepped other) {
        other.append("other");
        all.settle();
    }

    private void deliverAndAck(Stepped pipe, String text) {
        pipe.append(text);
        all.settle();
        pipe.loop.lines(pipe.consumer, Said.acks(pipe.sink.ids.get(pipe.sink.ids.size() - 1)));
        all.settle();
    }
}
