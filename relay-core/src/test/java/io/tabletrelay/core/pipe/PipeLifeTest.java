package io.tabletrelay.core.pipe;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.Payload;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.DeliveryConfig;
import io.tabletrelay.core.config.PipeSettings;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.delivery.BindOptions;
import io.tabletrelay.core.delivery.Consumer;
import io.tabletrelay.core.store.EventGroup;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A pipe's life cycle, stepped by hand on real files. */
class PipeLifeTest {
    private final LoopRig rig;

    PipeLifeTest(@TempDir Path data) {
        rig = new LoopRig(data, StoreConfig.DEFAULT);
    }

    @AfterEach
    void close() {
        rig.close();
    }

    @Test
    void aPausedPipeTakesAppendsAndAcksAndSendsNothingUntilItIsResumed() {
        rig.bind();
        rig.publish(1).join();
        assertThat(rig.sink.ids).containsExactly(1L);

        change(StateChange.PAUSE).join();
        rig.publish(1).join();
        rig.ackUpTo(1, 1);

        assertThat(rig.sink.ids).containsExactly(1L);
        assertThat(rig.loop.status().floor()).isEqualTo(1);
        assertThat(rig.loop.status().paused()).isTrue();
        assertThat(rig.loop.status().state()).isEqualTo("OPEN");
        change(StateChange.RESUME).join();
        rig.settle();
        assertThat(rig.sink.ids).containsExactly(1L, 2L);
    }

    @Test
    void aPausedPipeKeepsWhatIsInFlightAndWantsNoTurnForItsTimeout() {
        rig.bind();
        rig.publish(1).join();
        change(StateChange.PAUSE).join();

        rig.nowNanos += 3_600 * LoopRig.SECOND;
        rig.settle();

        assertThat(rig.loop.status().inFlight()).isEqualTo(1);
        assertThat(rig.sink.ids).containsExactly(1L);
        assertThat(rig.deadlineNanos())
                .satisfiesAnyOf(
                        never -> assertThat(never).isEqualTo(-1),
                        later -> assertThat(later).isGreaterThan(rig.nowNanos));
    }

    @Test
    void aPausedPipeIsStillPausedAfterARestart() {
        rig.publish(1).join();
        change(StateChange.PAUSE).join();

        rig.reopen();
        rig.bind();

        assertThat(rig.loop.status().paused()).isTrue();
        assertThat(rig.sink.ids).isEmpty();
        change(StateChange.RESUME).join();
        rig.settle();
        assertThat(rig.sink.ids).containsExactly(1L);
    }

    @Test
    void aDrainingPipeRefusesAppendsDeliversWhatIsThereAndClosesByItself() {
        rig.publishUpTo(3, 1);
        PipeStatus draining = change(StateChange.DRAIN).join();
        assertThat(draining.state()).isEqualTo("DRAINING");
        assertThat(draining.version()).isEqualTo(2);

        assertThat(refusal(rig.publish(1)).code()).isEqualTo(ErrorCode.WRONG_STATE);
        rig.bind();
        rig.ackUpTo(1, 2);
        assertThat(rig.loop.status().state()).isEqualTo("DRAINING");
        rig.ackUpTo(3, 3);

        assertThat(rig.sink.ids).containsExactly(1L, 2L, 3L);
        assertThat(rig.loop.status().state()).isEqualTo("CLOSED");
        assertThat(rig.loop.status().version()).isEqualTo(3);
        rig.reopen();
        assertThat(rig.loop.status().state()).isEqualTo("CLOSED");
        assertThat(refusal(rig.publish(1)).reason()).contains("state=CLOSED");
        change(StateChange.OPEN).join();
        assertThat(rig.publish(1).join().firstId()).isEqualTo(4);
    }

    @Test
    void aPipeThatIsClosedThoughNotAllIsSettledSendsNothingTakesAcksAndGoesOnWhenItIsOpened() {
        rig.bind();
        rig.publishUpTo(2, 1);
        change(StateChange.DRAIN).join();
        rig.loop.gone(rig.consumer);
        change(StateChange.CLOSE).join();

        RecordingSink late = new RecordingSink();
        rig.loop.bind(new Consumer(late, BindOptions.DIALECT_1, DeliveryConfig.DEFAULT));
        rig.ackUpTo(1, 1);

        assertThat(late.said).containsExactly("bound");
        assertThat(late.ids).isEmpty();
        assertThat(rig.loop.status().floor()).isEqualTo(1);
        change(StateChange.OPEN).join();
        rig.settle();
        assertThat(late.ids).containsExactly(2L);
    }

    @Test
    void aChangeThatIsNotPossibleOrOfAnotherVersionChangesNothing() {
        assertThat(refusal(change(StateChange.CLOSE)).code()).isEqualTo(ErrorCode.WRONG_STATE);
        assertThat(refusal(change(StateChange.DRAIN, 2L))).isInstanceOf(WrongVersionException.class);
        assertThat(rig.loop.status().state()).isEqualTo("OPEN");
        assertThat(rig.loop.status().version()).isEqualTo(1);

        change(StateChange.DRAIN, 1L).join();
        assertThat(rig.loop.status().state()).isEqualTo("CLOSED"); // there was nothing to drain
    }

    @Test
    void aChangeIsOnDiskBeforeItIsAnsweredAndHoldsNotBefore() {
        CompletableFuture<PipeStatus> answer = ask(StateChange.DRAIN, null);
        rig.turn();
        assertThat(answer).isNotDone();
        Answer published = new Answer();
        rig.offer(rig.event(1), published);
        rig.turn();
        assertThat(rig.diskWork).isNotEmpty();

        rig.settle();

        assertThat(answer).isCompleted();
        assertThat(published).isDone();
    }

    @Test
    void aChangeThatTheDiskRefusesIsAnsweredSoAndThePipeIsAsItWas() throws IOException {
        rig.publish(1).join();
        Path inTheWay = Files.createDirectories(
                rig.events().resolveSibling("pipe.json.tmp").resolve("in-the-way"));

        CompletableFuture<PipeStatus> refused = change(StateChange.PAUSE);
        CompletableFuture<Long> unfinished = finish();

        assertThat(refusal(refused).reason()).contains("pipe's state cannot be stored");
        assertThat(refusal(unfinished).reason()).contains("pipe's state cannot be stored");
        assertThat(rig.loop.status().paused()).isFalse();
        assertThat(rig.publish(1)).isCompleted();
        Files.delete(inTheWay);
        Files.delete(inTheWay.getParent());
        assertThat(change(StateChange.PAUSE).join().paused()).isTrue();
    }

    @Test
    void anEndThatCannotBeStoredIsTriedAgain() throws IOException {
        rig.publish(1).join();
        rig.bind();
        change(StateChange.DRAIN).join();
        Path inTheWay = Files.createDirectories(
                rig.events().resolveSibling("pipe.json.tmp").resolve("in-the-way"));
        rig.ackUpTo(1, 1);
        assertThat(rig.loop.status().state()).isEqualTo("DRAINING");
        assertThat(rig.deadlineNanos()).isGreaterThan(rig.nowNanos);

        Files.delete(inTheWay);
        Files.delete(inTheWay.getParent());
        rig.nowNanos += LoopRig.SECOND;
        rig.settle();

        assertThat(rig.loop.status().state()).isEqualTo("CLOSED");
    }

    @Test
    void aFinishedPipeRefusesAppendsAnswersRepeatsAndTerminatesWhenAllIsSettled() {
        rig.bind();
        assertThat(publish(new ProducerSequence("a", 1)).join().firstId()).isEqualTo(1);

        assertThat(finish().join()).isEqualTo(1);

        assertThat(refusal(publish(new ProducerSequence("a", 2))).code()).isEqualTo(ErrorCode.PIPE_FINISHED);
        assertThat(refusal(rig.publish(1)).code()).isEqualTo(ErrorCode.PIPE_FINISHED);
        assertThat(publish(new ProducerSequence("a", 1)).join().duplicate()).isTrue();
        assertThat(finish().join()).isEqualTo(1);
        assertThat(rig.loop.status().state()).isEqualTo("OPEN");
        assertThat(rig.loop.status().finishedAtId()).isEqualTo(1);
        assertThat(rig.sink.said).containsExactly("bound");
        rig.ackUpTo(1, 1);
        assertThat(rig.loop.status().state()).isEqualTo("TERMINATED");
        assertThat(rig.sink.said).containsExactly("bound", "ended");
        assertThat(finish().join()).isEqualTo(1);
        assertThat(refusal(change(StateChange.OPEN)).reason()).contains("state=TERMINATED", "possible=[]");
    }

    @Test
    void whatWasPublishedBeforeTheEndIsStoredAndWhatComesBehindItIsRefused() {
        Answer before = new Answer();
        rig.offer(rig.event(1), before);
        CompletableFuture<Long> finished = askToFinish();
        CompletableFuture<Long> again = askToFinish();
        Answer behind = new Answer();
        rig.offer(rig.event(1), behind);

        rig.settle();

        assertThat(before.join().firstId()).isEqualTo(1);
        assertThat(finished.join()).isEqualTo(1);
        assertThat(again.join()).isEqualTo(1);
        assertThat(refusal(behind).code()).isEqualTo(ErrorCode.PIPE_FINISHED);
    }

    @Test
    void aLateConsumerOfAFinishedPipeIsToldOnceThatItHasEnded() {
        rig.publish(1).join();
        finish().join();
        rig.reopen();

        rig.bind();
        assertThat(rig.sink.ids).containsExactly(1L);
        assertThat(rig.sink.said).containsExactly("bound");
        rig.ackUpTo(1, 1);
        assertThat(rig.sink.said).containsExactly("bound", "ended");
        rig.reopen();

        RecordingSink later = new RecordingSink();
        rig.loop.bind(new Consumer(later, BindOptions.DIALECT_1, DeliveryConfig.DEFAULT));
        rig.settle();
        assertThat(later.said).containsExactly("bound", "ended");
        assertThat(rig.loop.status().state()).isEqualTo("TERMINATED");
        rig.settle();
        assertThat(later.said).hasSize(2);
    }

    @Test
    void whoIsBoundToAFinishedPipeThatIsDrainedAndClosedIsToldOnceAllIsSettled() {
        rig.bind();
        rig.publish(1).join();
        finish().join();
        change(StateChange.DRAIN).join();

        rig.ackUpTo(1, 1);

        assertThat(rig.loop.status().state()).isEqualTo("TERMINATED");
        assertThat(rig.sink.said).containsExactly("bound", "ended");
    }

    @Test
    void anEmptyPipeCanBeFinishedAndHasEndedOnceThereIsASubscription() {
        assertThat(finish().join()).isZero();
        assertThat(rig.loop.status().state()).isEqualTo("OPEN");

        rig.bind();

        assertThat(rig.loop.status().finishedAtId()).isZero();
        assertThat(rig.loop.status().state()).isEqualTo("TERMINATED");
    }

    @Test
    void aStopWaitsForTheAcksOfPausedAndDrainingPipesAndTheyCount() {
        rig.bind();
        rig.publishUpTo(2, 1);
        change(StateChange.DRAIN).join();
        change(StateChange.PAUSE).join();

        rig.loop.stopSending();
        rig.settle();
        assertThat(rig.loop.snapshot().inFlight()).isEqualTo(2);
        rig.ackUpTo(1, 2);

        assertThat(rig.loop.snapshot().inFlight()).isZero();
        rig.reopen();
        assertThat(rig.loop.status().state()).isEqualTo("CLOSED");
        assertThat(rig.loop.snapshot().backlog()).isZero();
    }

    @Test
    void aFailedPipeIsOpenedAtOnceWhenAskedAndKeepsItsState() {
        rig.publish(1).join();
        change(StateChange.PAUSE).join();
        rig.loop.fail(new IllegalStateException("broken"));
        rig.settle();
        assertThat(rig.loop.status().state()).isEqualTo("FAILED");
        assertThat(rig.loop.status().reason()).contains("broken");
        assertThat(refusal(change(StateChange.RESUME)).code()).isEqualTo(ErrorCode.PIPE_FAILED);

        rig.loop.retryNow();
        rig.settle();

        assertThat(rig.loop.status().state()).isEqualTo("OPEN");
        assertThat(rig.loop.status().paused()).isTrue();
    }

    @Test
    void aDeletedPipeRefusesEverybodyAndNothingThatIsSaidLaterIsTaken() {
        rig.bind();
        rig.publish(1).join();
        RecordingSink second = new RecordingSink();
        rig.loop.bind(new Consumer(second, BindOptions.DIALECT_1, DeliveryConfig.DEFAULT));
        CompletableFuture<Void> closed = new CompletableFuture<>();
        Answer waiting = new Answer();
        rig.offer(rig.event(1), waiting);

        rig.loop.delete(new RelayException(ErrorCode.NO_SUCH_PIPE, "pipe was deleted"), closed);
        rig.settle();

        assertThat(closed).isCompleted();
        assertThat(rig.sink.said).contains("refused");
        assertThat(second.said).containsExactly("refused");
        assertThat(refusal(waiting).code()).isEqualTo(ErrorCode.NO_SUCH_PIPE);
        RecordingSink late = new RecordingSink();
        rig.loop.bind(new Consumer(late, BindOptions.DIALECT_1, DeliveryConfig.DEFAULT));
        rig.ackUpTo(1, 1);
        assertThat(late.said).containsExactly("refused");
        assertThat(refusal(rig.publish(1)).code()).isEqualTo(ErrorCode.NO_SUCH_PIPE);
        assertThat(refusal(change(StateChange.OPEN)).code()).isEqualTo(ErrorCode.NO_SUCH_PIPE);
    }

    private CompletableFuture<PipeStatus> change(StateChange change) {
        return change(change, null);
    }

    private CompletableFuture<PipeStatus> change(StateChange change, @Nullable Long ifVersion) {
        CompletableFuture<PipeStatus> answer = ask(change, ifVersion);
        rig.settle();
        return answer;
    }

    private CompletableFuture<PipeStatus> ask(StateChange change, @Nullable Long ifVersion) {
        CompletableFuture<PipeStatus> answer = new CompletableFuture<>();
        rig.loop.request(new TransferLoop.Request(
                open -> open.life().change(change, ifVersion, failure -> {
                    if (failure == null) {
                        answer.complete(rig.loop.status());
                    } else {
                        answer.completeExceptionally(failure);
                    }
                }),
                answer::completeExceptionally));
        return answer;
    }

    private CompletableFuture<Long> finish() {
        CompletableFuture<Long> answer = askToFinish();
        rig.settle();
        return answer;
    }

    private CompletableFuture<Long> askToFinish() {
        CompletableFuture<Long> answer = new CompletableFuture<>();
        rig.loop.request(new TransferLoop.Request(open -> open.life().finish(answer), answer::completeExceptionally));
        return answer;
    }

    private Answer publish(ProducerSequence sequence) {
        Answer answer = new Answer();
        EventGroup group = new EventGroup(List.of(new Payload("b", Map.of(), ByteBuffer.allocate(1))), sequence, 0);
        rig.loop.append(new WaitingAppend(group, sequence, PipeSettings.NONE, rig.nowNanos, answer));
        rig.settle();
        return answer;
    }

    private static RelayException refusal(CompletableFuture<?> answer) {
        assertThat(answer).isCompletedExceptionally();
        return (RelayException) answer.handle((value, failure) -> failure).join();
    }
}
