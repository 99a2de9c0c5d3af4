package io.tabletrelay.core.pipe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.DeliveryConfig;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.delivery.BindOptions;
import io.tabletrelay.core.delivery.BindOptions.Start;
import io.tabletrelay.core.delivery.Consumer;
import io.tabletrelay.core.delivery.Explained;
import io.tabletrelay.core.delivery.HandledCount;
import io.tabletrelay.core.delivery.LetterSelection;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExplainingTest {
    private static final String A = "consumer 1 of 1 (unknown peer, dialect 2, mode exclusive)";

    @TempDir
    private Path folder;

    private LoopRig rig;
    private RecordingSink sink = new RecordingSink();
    private Consumer consumer = new Consumer(sink, BindOptions.DIALECT_1, DeliveryConfig.DEFAULT);

    @BeforeEach
    void open() {
        rig = new LoopRig(folder, StoreConfig.DEFAULT);
    }

    @AfterEach
    void close() {
        rig.close();
    }

    @Test
    void withoutASubscriptionThereIsNobodyToAskAbout() {
        rig.publish(100).join();

        assertThat(explain(1).join().text())
                .isEqualTo("event 1 of pipe p: there is no subscription yet,"
                        + " so it is kept for the first one that wants it");
    }

    @Test
    void anEventIsFollowedFromItsAppendToItsAck() {
        bind(10, Long.MAX_VALUE, false);
        detach();
        rig.publish(100).join();
        assertThat(text(1)).endsWith("undelivered: no consumer is bound");
        assertThat(text(2)).endsWith("unknown: no event has this id, the last one given is 1");

        bind(10, Long.MAX_VALUE, false);
        rig.nowNanos += 2 * LoopRig.SECOND;
        assertThat(text(1))
                .endsWith("in flight to " + A + ", delivery 1: sent, or held, 2000 ms ago and not answered;"
                        + " its ack deadline ends in 28 s");

        ask(open -> subscription(open).nack(consumer, 1, 4 * LoopRig.SECOND, "no such unit"));
        assertThat(text(1))
                .endsWith("waiting to be delivered again after failed delivery 1 (no such unit):"
                        + " not before 4000 ms from now");

        rig.nowNanos += 5 * LoopRig.SECOND;
        rig.settle();
        ask(open -> subscription(open).ack(consumer, 1, 1));
        assertThat(text(1)).endsWith("settled by its consumer; when is not kept");
    }

    @Test
    void aFullWindowIsNamedWithItsNumbers() {
        bind(2, Long.MAX_VALUE, false);
        rig.publishUpTo(4, 100);

        assertThat(text(3)).endsWith("undelivered: the window of " + A + " is full (2 of 2 events are not answered)");
        assertThat(text(4)).contains("with up to 1 events before it");
    }

    @Test
    void aFullWindowOfBytesIsNamed() {
        bind(10, 150, false);
        rig.publishUpTo(2, 100);

        assertThat(text(2)).endsWith("has no room for it (100 of 150 bytes are not answered)");
    }

    @Test
    void aWindowOfNothingIsNamed() {
        bind(10, Long.MAX_VALUE, false);
        consumer.window(0);
        rig.publish(100).join();

        assertThat(text(1)).endsWith("undelivered: " + A + " wants none now: its window is 0");
    }

    @Test
    void aConsumerThatDoesNotReadIsNamed() {
        bind(10, Long.MAX_VALUE, false);
        sink.writable = false;
        rig.publish(100).join();

        assertThat(text(1)).endsWith("undelivered: " + A + " does not read: its send buffer is full");
    }

    @Test
    void strictOrderNamesTheEventThatMustGoFirst() {
        bind(1, Long.MAX_VALUE, true);
        rig.publishUpTo(2, 100);
        ask(open -> subscription(open).nack(consumer, 1, 100 * LoopRig.SECOND, "later"));

        assertThat(text(2)).endsWith(A + " wants strict order, and event 1 must be settled first");
    }

    @Test
    void aPausedAStoppingAndAFailedPipeSayWhatTheyAre() {
        bind(10, Long.MAX_VALUE, false);
        ask(open -> open.life().change(StateChange.PAUSE, null, failure -> {}));
        rig.publish(100).join();

        assertThat(text(1)).endsWith("undelivered: nothing is sent while the pipe is paused");
        rig.loop.fail(new IllegalStateException("disk on fire"));
        rig.settle();
        assertThat(explain(1).join().text())
                .startsWith("event 1 of pipe p: the pipe has FAILED and sends nothing: pipe failed: pipe=p")
                .contains("disk on fire");
        rig.loop.stopSending();
        assertRefused(explain(1), ErrorCode.STOPPING);
    }

    @Test
    void aDeadLetterAndWhatBecameOfItAreNamed() {
        bind(10, Long.MAX_VALUE, false);
        create("other", new Start.AtId(1));
        create("late", new Start.Latest());
        rig.publish(100).join();
        ask(open -> subscription(open).terminate(consumer, 1, "no such unit"));

        assertThat(text(1))
                .endsWith("settled as dead letter 1 (terminated after 0 failed deliveries, last error: no such unit),"
                        + " which can be redriven (relay dlq redrive)");

        CompletableFuture<HandledCount> redriven = new CompletableFuture<>();
        ask(open -> open.letterDesk().redrive(LetterSelection.ALL, null, redriven));

        assertThat(redriven.join().firstId()).isEqualTo(2);
        assertThat(text(1)).endsWith("which was redriven or purged");
        assertThat(explain(2).join().subscriptions())
                .extracting(Explained.OfSubscription::text)
                .satisfiesExactly(
                        a -> assertThat(a).contains("in flight to"),
                        other -> assertThat(other)
                                .isEqualTo("for subscription other it is not reached yet, and will be passed:"
                                        + " it was redriven for subscription a alone"),
                        late -> assertThat(late).contains("will be passed"));
    }

    @Test
    void whatLiesBelowTheStartWasNeverWanted() {
        rig.publishUpTo(3, 100);
        create("late", new Start.AtId(3));

        assertThat(explain(2, "late").join().text())
                .isEqualTo("event 2 of pipe p: for subscription late it is settled from the beginning:"
                        + " the subscription started behind it, with event 3");
        assertRefused(explain(2, "nobody"), ErrorCode.NO_SUCH_SUBSCRIPTION);
    }

    private static void assertRefused(CompletableFuture<Explained> asked, ErrorCode code) {
        assertThatThrownBy(asked::join)
                .cause()
                .isInstanceOfSatisfying(
                        RelayException.class, why -> assertThat(why.code()).isEqualTo(code));
    }

    private String text(long id) {
        return explain(id, "a").join().text();
    }

    private CompletableFuture<Explained> explain(long id) {
        return explain(id, "");
    }

    private CompletableFuture<Explained> explain(long id, String subscription) {
        CompletableFuture<Explained> result = new CompletableFuture<>();
        rig.loop.explain(new Explaining("p", id, subscription), result);
        rig.settle();
        return result;
    }

    private void bind(int window, long bytes, boolean strict) {
        sink = new RecordingSink();
        BindOptions options = new BindOptions(
                BindOptions.Dialect.TWO,
                "a",
                new Start.Earliest(),
                window,
                bytes,
                10,
                strict,
                BindOptions.Mode.EXCLUSIVE,
                false,
                false);
        consumer = new Consumer(sink, options, DeliveryConfig.DEFAULT);
        rig.loop.bind(consumer);
        rig.settle();
    }

    private void detach() {
        rig.loop.gone(consumer);
        rig.settle();
    }

    private void create(String name, Start start) {
        ask(open -> open.createSubscription(name, start, made -> {}, why -> {
            throw new AssertionError("no subscription", why);
        }));
    }

    private static io.tabletrelay.core.delivery.Subscription subscription(OpenPipe open) {
        return Objects.requireNonNull(open.subscription("a"));
    }

    private void ask(java.util.function.Consumer<OpenPipe> question) {
        rig.loop.request(new TransferLoop.Request(question, why -> {
            throw new AssertionError("the pipe is not open", why);
        }));
        rig.settle();
    }
}
