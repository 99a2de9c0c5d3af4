package io.tabletrelay.core.pipe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tabletrelay.api.Durability;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.CommitConfig;
import io.tabletrelay.core.config.DeliveryConfig;
import io.tabletrelay.core.config.FullConfig;
import io.tabletrelay.core.config.OnDamage;
import io.tabletrelay.core.config.RetentionConfig;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.config.WhenFull;
import io.tabletrelay.core.delivery.BindOptions;
import io.tabletrelay.core.delivery.BindOptions.Start;
import io.tabletrelay.core.delivery.Consumer;
import io.tabletrelay.core.delivery.DeadLetter;
import io.tabletrelay.core.delivery.HandledCount;
import io.tabletrelay.core.delivery.LetterSelection;
import io.tabletrelay.core.store.folder.HandledLetters;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class LetterDeskTest {
    private static final LetterSelection ALL = LetterSelection.ALL;

    @TempDir
    private Path folder;

    private LoopRig rig;
    private final Map<String, Consumer> consumers = new HashMap<>();
    private final Map<String, RecordingSink> sinks = new HashMap<>();

    @BeforeEach
    void open() {
        rig = new LoopRig(folder.resolve("data"), config(Durability.PROCESS, 0));
    }

    private static StoreConfig config(Durability durability, long maxEvents) {
        return config(durability, maxEvents, FullConfig.DEFAULT);
    }

    private static StoreConfig config(Durability durability, long maxEvents, FullConfig full) {
        return new StoreConfig(
                1 << 20,
                1 << 18,
                0,
                maxEvents,
                0,
                durability,
                CommitConfig.DEFAULT,
                full,
                OnDamage.SKIP,
                RetentionConfig.ACKED);
    }

    @AfterEach
    void close() {
        rig.close();
    }

    @Test
    void aRedrivenEventComesToItsSubscriptionAloneAndTheOthersPassIt() {
        attach("a");
        attach("b");
        rig.publish(100).join();
        ack("b", 1);
        terminate("a", 1);

        HandledCount redriven = redrive(rig, ALL).join();

        assertThat(redriven).isEqualTo(new HandledCount(1, 0, 2, 2, false));
        assertThat(sink("a").ids).containsExactly(1L, 2L);
        assertThat(sink("b").ids).containsExactly(1L);
        assertThat(status("b").backlog()).isZero();
        assertThat(status("b").deliveredUpTo()).isEqualTo(2);
        assertThat(status("a").inFlight()).isEqualTo(1);
        assertThat(rig.loop.status().deadLetters()).isZero();
    }

    @Test
    void aLetterIsRedrivenOnceAlsoAcrossARestart() {
        attach("a");
        letters("a", 3);
        assertThat(redrive(rig, ALL).join().count()).isEqualTo(3);

        assertThat(redrive(rig, ALL).join()).isEqualTo(new HandledCount(0, 0, 0, 0, false));
        rig.reopen();

        assertThat(redrive(rig, ALL).join().count()).isZero();
        assertThat(list()).isEmpty();
        assertThat(rig.loop.status().lastId()).isEqualTo(6);
        assertThat(rig.loop.status().deadLetters()).isZero();
    }

    @Test
    void aRedrivenEventThatIsGivenUpAgainIsALetterOfItsOwn() {
        attach("a");
        letters("a", 1);
        redrive(rig, ALL).join();
        terminate("a", 2);

        assertThat(list()).singleElement().satisfies(letter -> {
            assertThat(letter.number()).isEqualTo(2);
            assertThat(letter.eventId()).isEqualTo(2);
        });
        assertThat(redrive(rig, ALL).join().firstId()).isEqualTo(3);
        assertThat(sink("a").ids).containsExactly(1L, 2L, 3L);
    }

    @Test
    void lettersAreSelectedByNumberReasonAndSubscription() {
        attach("a");
        attach("b");
        rig.publishUpTo(2, 100);
        terminate("a", 1);
        terminate("b", 1);
        terminate("a", 2);

        assertThat(redrive(rig, new LetterSelection(List.of(), "max-deliveries", ""))
                        .join()
                        .count())
                .isZero();
        assertThat(redrive(rig, new LetterSelection(List.of(), "", "b")).join().count())
                .isEqualTo(1);
        assertThat(purge(new LetterSelection(List.of(3L, 2L, 99L), "terminated", ""))
                        .join()
                        .count())
                .isEqualTo(1);
        assertThat(list()).extracting(DeadLetter::number).containsExactly(1L);
    }

    @Test
    void moreThanOneAppendTakesAreRedrivenBitByBit() {
        attach("a");
        letters("a", 300);

        HandledCount first = redrive(rig, ALL).join();
        HandledCount second = redrive(rig, ALL).join();

        assertThat(first.count()).isEqualTo(256);
        assertThat(first.more()).isTrue();
        assertThat(second).isEqualTo(new HandledCount(44, 0, 557, 600, false));
    }

    @Test
    void purgedLettersAreGoneAlsoAfterARestart() {
        attach("a");
        letters("a", 5);

        assertThat(purge(new LetterSelection(List.of(2L), "", "")).join().count())
                .isEqualTo(1);
        assertThat(purge(new LetterSelection(List.of(2L), "", "")).join().count())
                .isZero();

        rig.reopen();
        assertThat(list()).extracting(DeadLetter::number).containsExactly(1L, 3L, 4L, 5L);
        assertThat(rig.loop.status().deadLetters()).isEqualTo(4);
        assertThat(rig.loop.status().lastId()).isEqualTo(5);
    }

    @Test
    void segmentsOfWhichEveryLetterIsHandledAreDeleted() throws IOException {
        attach("a");
        letters("a", 30, 100_000);
        int before = segments();

        purge(ALL).join();

        assertThat(before).isGreaterThan(2);
        assertThat(segments()).isEqualTo(1);
        rig.reopen();
        assertThat(rig.loop.status().deadLetters()).isZero();
        attach("a");
        letters("a", 1);
        assertThat(list()).extracting(DeadLetter::number).containsExactly(31L);
    }

    @Test
    void aSubscriptionThatIsGoneIsARefusalAndNothingIsRedriven() {
        attach("a");
        attach("b");
        rig.publish(100).join();
        terminate("a", 1);
        terminate("b", 1);
        detach("b");
        change(SubscriptionChange.Kind.DELETE, "b");

        CompletableFuture<HandledCount> redriven = redrive(rig, ALL);

        assertRefused(redriven, ErrorCode.NO_SUCH_SUBSCRIPTION, "subscription=b, which is gone; make it again");
        assertThat(rig.loop.status().lastId()).isEqualTo(1);
        assertThat(redrive(rig, new LetterSelection(List.of(), "", "a")).join().count())
                .isEqualTo(1);
        assertThat(purge(ALL).join().count()).isEqualTo(1);
    }

    @Test
    void aSubscriptionThatGoesWhileItsLettersWaitForRoomGetsNothingAndTheyStay() {
        rig.close();
        rig = new LoopRig(
                folder.resolve("full"),
                config(Durability.PROCESS, 2, new FullConfig(WhenFull.BLOCK, Duration.ofSeconds(30))));
        attach("a");
        attach("slow");
        letters("a", 2);
        CompletableFuture<HandledCount> redriven = redrive(rig, ALL);
        assertThat(redriven).isNotDone();
        detach("a");

        change(SubscriptionChange.Kind.DELETE, "a");
        ack("slow", 1);
        ack("slow", 2);

        assertRefused(redriven, ErrorCode.NO_SUCH_SUBSCRIPTION, "their subscription was deleted meanwhile");
        assertThat(rig.loop.status().lastId()).isEqualTo(2);
        assertThat(list()).hasSize(2);
        assertThat(intent(rig.data())).doesNotExist();
    }

    /** As at durability process after a power cut: what says that letters are handled may be newer than their log. */
    @Test
    void aLetterNeverGetsTheNumberOfOneThatWasHandled() throws IOException {
        attach("a");
        letters("a", 2);
        purge(ALL).join();
        rig.close();
        try (Stream<Path> all = Files.walk(pipe(rig.data()).resolve("dead-letters"))) {
            for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(each);
            }
        }

        rig = new LoopRig(rig.data(), config(Durability.PROCESS, 0));
        attach("a");
        letters("a", 1);

        assertThat(list()).singleElement().extracting(DeadLetter::number).isEqualTo(3L);
        assertThat(rig.loop.status().deadLetters()).isEqualTo(1);
    }

    @Test
    void aFullPipeRefusesAndTheLettersStay() {
        rig.close();
        rig = new LoopRig(folder.resolve("full"), config(Durability.PROCESS, 2));
        attach("a");
        letters("a", 2);
        rig.publish(100).join();

        CompletableFuture<HandledCount> redriven = redrive(rig, ALL);
        rig.nowNanos += 60 * LoopRig.SECOND;
        rig.settle();

        assertRefused(redriven, ErrorCode.PIPE_FULL, "max-events=2");
        assertThat(list()).hasSize(2);
        ack("a", 3);
        assertThat(redrive(rig, ALL).join().count()).isEqualTo(2);
    }

    @Test
    void aPipeThatTakesNoEventsRefuses() {
        attach("a");
        letters("a", 1);
        ask(open -> open.life().change(StateChange.DRAIN, null, failure -> {}));

        assertRefused(redrive(rig, ALL), ErrorCode.WRONG_STATE, "state=");
        assertThat(purge(ALL).join().count()).isEqualTo(1);
    }

    @Test
    void oneRequestAtATimeIsServed() {
        attach("a");
        letters("a", 1);
        CompletableFuture<HandledCount> first = startRedrive(rig, ALL);

        CompletableFuture<HandledCount> second = startRedrive(rig, ALL);

        assertRefused(second, ErrorCode.BUSY, "try it again in a moment");
        rig.settle();
        assertThat(first.join().count()).isEqualTo(1);
    }

    @Test
    void aStopWhileARedriveIsUnderWayAnswersIt() {
        attach("a");
        letters("a", 1);
        CompletableFuture<HandledCount> redriven = startRedrive(rig, ALL);

        rig.reopen();

        assertThat(redriven).isCompletedExceptionally();
        assertThat(redrive(rig, ALL).join().count() + 1)
                .isEqualTo(rig.loop.status().lastId());
    }

    /** An image of the files is taken before each step, as a kill at that moment leaves them. */
    @ParameterizedTest
    @EnumSource(Durability.class)
    void whereverARedriveIsKilledEachLetterComesBackOnce(Durability durability) throws IOException {
        rig.close();
        rig = new LoopRig(folder.resolve("killed"), config(durability, 0));
        attach("a");
        letters("a", 3);
        CompletableFuture<HandledCount> redriven = startRedrive(rig, ALL);
        List<Path> images = new ArrayList<>();
        for (int idle = 0; idle < 3; ) {
            images.add(image(rig.data(), folder.resolve("image-" + images.size())));
            Runnable task = rig.diskWork.poll();
            if (task != null) {
                task.run();
                idle = 0;
            } else {
                idle = rig.turn() > 0 || !rig.diskWork.isEmpty() ? 0 : idle + 1;
            }
        }
        assertThat(redriven.join().count()).isEqualTo(3);

        int unfinished = 0;
        for (Path image : images) {
            unfinished += Files.exists(intent(image)) ? 1 : 0;
            try (LoopRig killed = new LoopRig(image, config(durability, 0))) {
                redrive(killed, ALL).join();

                PipeStatus status = killed.loop.status();
                assertThat(status.lastId() - status.voidIds()).as("%s", image).isEqualTo(6);
                assertThat(status.deadLetters()).as("%s", image).isZero();
                assertThat(intent(image)).doesNotExist();
            }
        }
        assertThat(unfinished).isGreaterThan(1);
    }

    @Test
    void aRedriveThatWasKilledBeforeItsNoteWasDeletedIsNotDoneAgain() {
        attach("a");
        letters("a", 2);
        redrive(rig, ALL).join();
        rig.close();
        HandledLetters.open(pipe(rig.data()), 1 << 20, false).begin(new HandledLetters.Redrive(2, List.of(1L, 2L)));

        rig = new LoopRig(rig.data(), config(Durability.PROCESS, 0));

        assertThat(redrive(rig, ALL).join().count()).isZero();
        assertThat(rig.loop.status().lastId()).isEqualTo(4);
    }

    private static Path intent(Path data) {
        return pipe(data).resolve("dead-letters.redrive");
    }

    private static Path pipe(Path data) {
        return data.resolve("pipes").resolve("p");
    }

    private static Path image(Path data, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(data)) {
            for (Path each : (Iterable<Path>) all::iterator) {
                Path copy = to.resolve(data.relativize(each));
                if (Files.isDirectory(each)) {
                    Files.createDirectories(copy);
                } else {
                    Files.copy(each, copy);
                }
            }
        }
        return to;
    }

    private int segments() throws IOException {
        try (Stream<Path> all = Files.list(pipe(rig.data()).resolve("dead-letters"))) {
            return (int) all.count();
        }
    }

    private static void assertRefused(CompletableFuture<HandledCount> redriven, ErrorCode code, String text) {
        assertThatThrownBy(redriven::join)
                .isInstanceOf(CompletionException.class)
                .cause()
                .isInstanceOfSatisfying(
                        RelayException.class,
                        refusal -> assertThat(refusal.code()).isEqualTo(code))
                .hasMessageContaining(text);
    }

    private void letters(String subscription, int count) {
        letters(subscription, count, 100);
    }

    private void letters(String subscription, int count, int bytes) {
        long first = rig.loop.status().lastId() + 1;
        for (long id = first; id < first + count; id++) {
            rig.publish(bytes).join();
            terminate(subscription, id);
        }
    }

    private void terminate(String name, long id) {
        ask(open -> Objects.requireNonNull(open.subscription(name))
                .terminate(Objects.requireNonNull(consumers.get(name)), id, "not for me"));
    }

    private void ack(String name, long id) {
        ask(open -> Objects.requireNonNull(open.subscription(name))
                .ack(Objects.requireNonNull(consumers.get(name)), id, id));
    }

    private CompletableFuture<HandledCount> redrive(LoopRig of, LetterSelection which) {
        CompletableFuture<HandledCount> result = startRedrive(of, which);
        of.settle();
        return result;
    }

    private static CompletableFuture<HandledCount> startRedrive(LoopRig of, LetterSelection which) {
        CompletableFuture<HandledCount> result = new CompletableFuture<>();
        of.loop.request(new TransferLoop.Request(
                open -> open.letterDesk().redrive(which, open.life().current().refusal(LoopRig.PIPE), result),
                result::completeExceptionally));
        return result;
    }

    private CompletableFuture<HandledCount> purge(LetterSelection which) {
        CompletableFuture<HandledCount> result = new CompletableFuture<>();
        ask(open -> open.letterDesk().purge(which, result));
        return result;
    }

    private List<DeadLetter> list() {
        CompletableFuture<List<DeadLetter>> result = new CompletableFuture<>();
        rig.loop.askLetters(letters -> letters.list(0, 1_000), result);
        rig.settle();
        return result.join();
    }

    private void attach(String name) {
        RecordingSink sink = new RecordingSink();
        Consumer consumer = new Consumer(sink, BindOptions.DIALECT_1, DeliveryConfig.DEFAULT);
        consumers.put(name, consumer);
        sinks.put(name, sink);
        ask(open -> open.createSubscription(name, new Start.Earliest(), found -> found.attach(consumer), why -> {
            throw new AssertionError("no subscription", why);
        }));
    }

    private void detach(String name) {
        ask(open -> Objects.requireNonNull(open.subscription(name))
                .detach(Objects.requireNonNull(consumers.get(name)), false));
    }

    private void change(SubscriptionChange.Kind kind, String name) {
        ask(open -> open.subscriptions().changes().add(new SubscriptionChange(kind, name, null, made -> {}, why -> {
            throw new AssertionError("not changed", why);
        })));
    }

    private void ask(java.util.function.Consumer<OpenPipe> question) {
        rig.loop.request(new TransferLoop.Request(question, why -> {
            throw new AssertionError("the pipe is not open", why);
        }));
        rig.settle();
    }

    private RecordingSink sink(String name) {
        return Objects.requireNonNull(sinks.get(name));
    }

    private SubscriptionStatus status(String name) {
        return rig.loop.status().subscriptions().stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow();
    }
}
