package io.tabletrelay.core.pipe;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.api.Durability;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.CommitConfig;
import io.tabletrelay.core.config.FullConfig;
import io.tabletrelay.core.config.OnDamage;
import io.tabletrelay.core.config.RetentionConfig;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.config.WhenFull;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletionException;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is settled makes room for what comes; where that is not enough, the pipe does as it was set. */
class FullPipeTest {
    private static final int EVENT_BYTES = 200 << 10;
    private static final long SEGMENT_BYTES = 1 << 20;
    private static final long MAX_BYTES = 4 << 20;
    private static final FullConfig BLOCK = new FullConfig(WhenFull.BLOCK, Duration.ofSeconds(30));
    private static final FullConfig DROP = new FullConfig(WhenFull.DROP_OLDEST, Duration.ofSeconds(30));

    private final Path folder;
    private LoopRig rig;

    FullPipeTest(@TempDir Path folder) {
        this.folder = folder;
        rig = new LoopRig(folder.resolve("unused"), StoreConfig.DEFAULT);
    }

    @AfterEach
    void close() {
        rig.close();
    }

    @Test
    void segmentsGoOnceTheirEventsAreAcked() throws IOException {
        open(FullConfig.DEFAULT, RetentionConfig.ACKED, 0, 0);
        rig.bind();
        for (int round = 0; round < 10; round++) {
            long first = rig.loop.status().lastId() + 1;
            rig.publishUpTo(first + 9, EVENT_BYTES);
            rig.ackUpTo(first, first + 9);
        }

        PipeStatus status = rig.loop.status();
        assertThat(segments()).isLessThanOrEqualTo(3);
        assertThat(status.firstId()).isGreaterThan(90);
        assertThat(status.settled()).isEqualTo(100);
        assertThat(status.voidIds()).isZero();

        rig.reopen();

        assertThat(rig.loop.status().settled()).isEqualTo(100);
        assertThat(rig.loop.status().floor()).isEqualTo(100);
        assertThat(rig.publish(1).join().firstId()).isEqualTo(101);
    }

    @Test
    void whatIsDeletedStaysSettledWhenTheSettledIdsAreLost() throws IOException {
        open(FullConfig.DEFAULT, RetentionConfig.ACKED, 0, 0);
        rig.bind();
        rig.publishUpTo(50, EVENT_BYTES);
        rig.ackUpTo(1, 30);
        long firstId = rig.loop.status().firstId();
        assertThat(firstId).isGreaterThan(20);
        rig.deleteSettled();

        rig.reopen();

        PipeStatus status = rig.loop.status();
        assertThat(status.settled()).isEqualTo(firstId - 1);
        assertThat(status.floor()).isEqualTo(firstId - 1);
        assertThat(status.voidIds()).isZero();
        rig.sink.ids.clear();
        rig.bind();
        rig.ackUpTo(firstId, 50);
        assertThat(rig.sink.ids).containsExactlyElementsOf(ids(firstId, 50));
    }

    @Test
    void theStateOfWhatWasDeletedIsSettledAndItsAckIsTakenSilently() {
        open(FullConfig.DEFAULT, RetentionConfig.ACKED, 0, 0);
        rig.bind();
        rig.publishUpTo(20, EVENT_BYTES);
        rig.ackUpTo(1, 20);
        List<String> states = new ArrayList<>();

        rig.loop.request(new TransferLoop.Request(
                open -> {
                    states.add(Objects.requireNonNull(open.subscription("default"))
                            .stateOf(1)
                            .state());
                    states.add(String.valueOf(
                            Objects.requireNonNull(open.subscription("default")).ack(rig.consumer, 1, 1)));
                },
                why -> states.add(why.reason())));

        assertThat(states).containsExactly("settled", "true");
    }

    @Test
    void settledEventsAreKeptForTheirAgeAndOneTimerIsSetForTheNext() throws IOException {
        open(FullConfig.DEFAULT, new RetentionConfig(Duration.ofMinutes(1), 0), 0, 0);
        rig.bind();
        rig.publishUpTo(20, EVENT_BYTES);
        rig.ackUpTo(1, 20);
        long kept = segments();
        assertThat(kept).isGreaterThan(3);
        assertThat(rig.deadlineNanos()).isEqualTo(rig.nowNanos + 60 * LoopRig.SECOND);
        int before = rig.diskWork.size();
        assertThat(rig.turn() + rig.diskWork.size()).isEqualTo(before);

        rig.nowNanos += 60 * LoopRig.SECOND;
        rig.settle();

        assertThat(segments()).isEqualTo(1);
        assertThat(rig.deadlineNanos()).isEqualTo(-1);
    }

    @Test
    void unsettledEventsAreKeptWhateverTheirAge() throws IOException {
        open(FullConfig.DEFAULT, new RetentionConfig(Duration.ofMinutes(1), SEGMENT_BYTES), 0, 0);
        rig.publishUpTo(20, EVENT_BYTES);
        long before = segments();

        rig.nowNanos += 3600 * LoopRig.SECOND;
        rig.settle();

        assertThat(segments()).isEqualTo(before);
        assertThat(rig.deadlineNanos()).isEqualTo(-1);
    }

    @Test
    void whatIsKeptForItsAgeGivesWayToNewEvents() {
        open(FullConfig.DEFAULT, new RetentionConfig(Duration.ofDays(1), 0), MAX_BYTES, 0);
        rig.bind();

        for (long id = 1; id <= 100; id++) {
            rig.publish(EVENT_BYTES).join();
            rig.ackUpTo(id, id);
            assertThat(rig.loop.status().diskBytes()).isLessThanOrEqualTo(MAX_BYTES + SEGMENT_BYTES);
        }
    }

    /** The one segment there is holds as much as the pipe may have. */
    @Test
    void aFullPipeGoesOnInANewSegmentWhenTheOneItAppendsToIsSettled() {
        open(FullConfig.DEFAULT, RetentionConfig.ACKED, MAX_BYTES, 0);
        rig.bind();
        rig.publish(rig.events(18, EVENT_BYTES)).join();
        assertThat(rig.publish(rig.events(4, EVENT_BYTES))).isCompletedExceptionally();
        rig.ackUpTo(1, 18);

        assertThat(rig.publish(rig.events(4, EVENT_BYTES)).join().firstId()).isEqualTo(19);
        assertThat(rig.loop.status().diskBytes()).isLessThan(MAX_BYTES / 2);
        assertThat(rig.loop.status().settled()).isEqualTo(18);
    }

    @Test
    void aFullPipeWhoseEventsAreAllSettledAcceptsAgain() {
        open(FullConfig.DEFAULT, new RetentionConfig(Duration.ofDays(1), 0), MAX_BYTES, 0);
        rig.bind();
        long last = fillUp();
        rig.ackUpTo(1, last);
        rig.reopen(); // nothing is appended to the newest segment any more

        assertThat(rig.publish(EVENT_BYTES).join().firstId()).isEqualTo(last + 1);
        assertThat(rig.loop.status().diskBytes()).isLessThan(2 * SEGMENT_BYTES);
        assertThat(rig.loop.status().settled()).isEqualTo(last);
    }

    @Test
    void aFullPipeRefusesWithItsNumbersAndTheWayOut() {
        open(FullConfig.DEFAULT, RetentionConfig.ACKED, MAX_BYTES, 0);
        fillUp();

        Answer answer = rig.publish(EVENT_BYTES);

        assertThat(refusal(answer).code()).isEqualTo(ErrorCode.PIPE_FULL);
        assertThat(refusal(answer))
                .hasMessageContaining("pipe=p, logBytes=")
                .hasMessageContaining("limit=4194304; publish again when older events are settled, or raise max-bytes");
    }

    @Test
    void aPublishWaitsForRoomAndGoesOnAtOnceWhenAcksMakeSome() {
        open(BLOCK, RetentionConfig.ACKED, MAX_BYTES, 0);
        rig.bind();
        long last = fillUp();
        Answer first = new Answer();
        Answer second = new Answer();
        rig.offer(rig.event(EVENT_BYTES), first);
        rig.offer(rig.event(1), second);
        rig.settle();
        assertThat(first).isNotDone();
        assertThat(second).as("those behind it wait too").isNotDone();

        rig.ackUpTo(1, last / 2);

        assertThat(first.join().firstId()).isEqualTo(last + 1);
        assertThat(second.join().firstId()).isEqualTo(last + 2);
    }

    @Test
    void aPublishThatWaitedTooLongIsRefusedAndSaysHowLong() {
        open(BLOCK, RetentionConfig.ACKED, MAX_BYTES, 0);
        fillUp();
        long start = rig.nowNanos;
        Answer answer = rig.publish(EVENT_BYTES);
        assertThat(rig.deadlineNanos()).as("the next try").isEqualTo(start + LoopRig.SECOND);

        rig.nowNanos = start + 30 * LoopRig.SECOND - 1;
        rig.settle();
        assertThat(answer).isNotDone();
        assertThat(rig.deadlineNanos()).isEqualTo(start + 30 * LoopRig.SECOND);
        rig.nowNanos++;
        rig.settle();

        assertThat(refusal(answer).code()).isEqualTo(ErrorCode.PIPE_FULL);
        assertThat(refusal(answer))
                .hasMessageContaining("limit=4194304")
                .hasMessageEndingWith("; waited 30000 ms for room");
        assertThat(rig.deadlineNanos()).isEqualTo(-1);
    }

    @Test
    void aPublishThatWaitsCostsNoTurnsOfItsOwn() {
        open(BLOCK, RetentionConfig.ACKED, MAX_BYTES, 0);
        fillUp();
        Answer answer = rig.publish(EVENT_BYTES);

        assertThat(rig.turn()).isZero();
        assertThat(rig.diskWork).isEmpty();
        assertThat(answer).isNotDone();
    }

    @Test
    void atMostSoManyUnsettledEventsAPublishWaitsForAnAck() {
        open(BLOCK, RetentionConfig.ACKED, 0, 10);
        rig.bind();
        rig.publishUpTo(10, 1);
        Answer first = rig.publish(1);
        Answer second = rig.publish(1);
        assertThat(first).isNotDone();
        assertThat(rig.turn()).isZero();

        rig.ackUpTo(4, 4);
        assertThat(first).isCompleted();
        assertThat(second).isNotDone();
        rig.nowNanos += 30 * LoopRig.SECOND;
        rig.settle();

        assertThat(refusal(second))
                .hasMessageContaining("backlogEvents=10, max-events=10")
                .hasMessageEndingWith("waited 30000 ms for room");
    }

    @Test
    void aStopAnswersWhatWaitsForRoom() {
        open(BLOCK, RetentionConfig.ACKED, MAX_BYTES, 0);
        fillUp();
        Answer answer = rig.publish(EVENT_BYTES);

        rig.loop.stopSending();

        assertThat(refusal(answer).code()).isEqualTo(ErrorCode.STOPPING);
    }

    @Test
    void theOldestSegmentIsDroppedWithWhatIsInFlightOrWaits() {
        open(DROP, RetentionConfig.ACKED, MAX_BYTES, 0);
        rig.bind();
        fillUp();
        rig.loop.lines(rig.consumer, Said.acks(-2, -10)); // they wait for their redelivery
        rig.settle();
        assertThat(rig.loop.status().waiting()).isEqualTo(2);

        rig.publish(EVENT_BYTES).join();

        PipeStatus status = rig.loop.status();
        long dropped = status.firstId() - 1;
        assertThat(dropped).isBetween(3L, 6L);
        assertThat(status.dropped()).isEqualTo(dropped);
        assertThat(status.floor()).isEqualTo(dropped);
        assertThat(status.settled()).isEqualTo(dropped);
        assertThat(status.waiting()).isEqualTo(1);
        assertThat(rig.sink.ids).as("the window has room again").contains(10 + dropped);
        assertThat(status.diskBytes()).isLessThanOrEqualTo(MAX_BYTES + SEGMENT_BYTES);
    }

    @Test
    void whatWasDroppedIsNeverSentAgainAndNotCountedTwice() {
        open(DROP, RetentionConfig.ACKED, MAX_BYTES, 0);
        rig.publishUpTo(100, EVENT_BYTES);
        long dropped = rig.loop.status().dropped();
        long first = rig.loop.status().firstId();
        assertThat(dropped).isEqualTo(first - 1);

        rig.reopen();
        rig.bind();

        rig.ackUpTo(first, 100);
        assertThat(rig.sink.ids).containsExactlyElementsOf(ids(first, 100));
        assertThat(rig.loop.status().settled()).isEqualTo(100);
    }

    @Test
    void atMostSoManyUnsettledEventsTheOldestAreDropped() {
        open(DROP, RetentionConfig.ACKED, 0, 10);
        rig.bind();
        rig.publishUpTo(10, 1);
        rig.ackUpTo(2, 3);
        Answer first = new Answer();
        Answer second = new Answer();
        Answer third = new Answer();
        for (Answer answer : List.of(first, second, third)) {
            rig.offer(rig.event(1), answer);
        }
        rig.settle();

        PipeStatus status = rig.loop.status();
        assertThat(third.join().lastId()).isEqualTo(13);
        assertThat(status.dropped()).isEqualTo(1);
        assertThat(status.floor()).isEqualTo(3);
        assertThat(status.lastId() - status.settled()).isEqualTo(10);

        rig.reopen();
        rig.sink.ids.clear();
        rig.bind();

        assertThat(rig.sink.ids).isNotEmpty().startsWith(4L);
    }

    @ParameterizedTest
    @EnumSource(WhenFull.class)
    void aGroupThatCanNeverFitIsRefusedAtOnce(WhenFull policy) {
        open(new FullConfig(policy, Duration.ofSeconds(30)), RetentionConfig.ACKED, 0, 2);
        rig.publish(1).join();

        assertThat(refusal(rig.publish(rig.events(3, 1))).code()).isEqualTo(ErrorCode.PIPE_FULL);
        assertThat(rig.loop.status().dropped()).isZero();
        assertThat(rig.publish(1)).isCompleted();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void thePipeNeverTakesMoreThanItsLimitAndASegment(long seed) throws IOException {
        Random random = new Random(seed);
        FullConfig policy = seed == 1 ? FullConfig.DEFAULT : seed == 2 ? BLOCK : DROP;
        open(policy, new RetentionConfig(Duration.ofMinutes(5), 0), MAX_BYTES, 0);
        rig.bind();
        List<Answer> answers = new ArrayList<>();
        for (int step = 0; step < 400; step++) {
            rig.nowNanos += random.nextInt(2_000_000_000);
            answers.add(rig.publish(rig.events(1 + random.nextInt(3), random.nextInt(300 << 10))));
            if (random.nextInt(3) == 0 && !rig.sink.ids.isEmpty()) {
                long upTo = rig.sink.ids.get(random.nextInt(rig.sink.ids.size()));
                rig.ackUpTo(Math.max(1, upTo - 10), upTo);
            }
            if (random.nextInt(60) == 0) {
                rig.reopen();
                rig.bind();
            }
            PipeStatus status = rig.loop.status();
            assertThat(status.diskBytes()).as("step " + step).isLessThanOrEqualTo(MAX_BYTES + SEGMENT_BYTES);
            assertThat(status.voidIds()).isZero();
        }
        assertThat(rig.bytesOnDisk()).isLessThanOrEqualTo(MAX_BYTES + SEGMENT_BYTES);
        assertThat(answers).anyMatch(answer -> answer.isDone() && !answer.isCompletedExceptionally());
    }

    @Test
    void aLiveSegmentThatIsDeletedUnderneathFailsThePipeWithinASecondOfAppends() throws IOException {
        open(FullConfig.DEFAULT, RetentionConfig.ACKED, 0, 0);
        rig.publish(1).join();
        rig.deleteEvents();

        rig.nowNanos += LoopRig.SECOND;
        rig.publish(1).join();

        assertThat(rig.loop.status().state()).isEqualTo("FAILED");
        assertThat(rig.loop.status().reason()).contains("segment file was deleted or replaced: pipe=p");
    }

    @Test
    void aPipeWhoseFolderIsGoneIsNotBegunAnew() throws IOException {
        open(FullConfig.DEFAULT, RetentionConfig.ACKED, 0, 0);
        rig.publish(1).join();
        rig.deletePipe();

        rig.nowNanos += LoopRig.SECOND;
        rig.publish(1).join();
        rig.nowNanos += 2 * LoopRig.SECOND;
        rig.settle();

        assertThat(rig.loop.status().state()).isEqualTo("FAILED");
        assertThat(rig.loop.status().reason()).contains("pipe.json is gone").contains("restore");
    }

    private void open(FullConfig full, RetentionConfig retention, long maxBytes, long maxEvents) {
        rig.close();
        rig = new LoopRig(folder.resolve("data"), config(full, retention, maxBytes, maxEvents));
    }

    private static StoreConfig config(FullConfig full, RetentionConfig retention, long maxBytes, long maxEvents) {
        return new StoreConfig(
                SEGMENT_BYTES,
                1 << 20,
                maxBytes,
                maxEvents,
                0,
                Durability.PROCESS,
                CommitConfig.DEFAULT,
                full,
                OnDamage.SKIP,
                retention);
    }

    /** Publishes as much as there is room for; returns the last id. */
    private long fillUp() {
        FullConfig reject = FullConfig.DEFAULT;
        long most = 0;
        try (LoopRig other =
                new LoopRig(folder.resolve("other"), config(reject, RetentionConfig.ACKED, MAX_BYTES, 0))) {
            while (!other.publish(EVENT_BYTES).isCompletedExceptionally()) {
                most++;
            }
        }
        rig.publishUpTo(most, EVENT_BYTES);
        return most;
    }

    private static RelayException refusal(Answer answer) {
        assertThat(answer).isCompletedExceptionally();
        ThrowableAssert.ThrowingCallable join = answer::join;
        try {
            join.call();
        } catch (CompletionException e) {
            if (e.getCause() instanceof RelayException refusal) {
                return refusal;
            }
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
        throw new AssertionError("it was not refused");
    }

    private long segments() throws IOException {
        try (Stream<Path> all = Files.list(rig.events())) {
            return all.count();
        }
    }

    private static List<Long> ids(long first, long last) {
        return LongStream.rangeClosed(first, last).boxed().toList();
    }
}
