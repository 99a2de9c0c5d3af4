package io.tabletrelay.core.pipe;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.core.config.DeliveryConfig;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.delivery.BindOptions;
import io.tabletrelay.core.delivery.BindOptions.Mode;
import io.tabletrelay.core.delivery.Consumer;
import io.tabletrelay.core.pipe.SaidLines.Verb;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BoundConsumersTest {
    private final LoopRig rig;
    private final RecordingSink otherSink = new RecordingSink();

    BoundConsumersTest(@TempDir Path folder) {
        rig = new LoopRig(folder.resolve("data"), StoreConfig.DEFAULT);
    }

    @AfterEach
    void close() {
        rig.close();
    }

    private static Consumer consumer(RecordingSink sink, Mode mode, int window, long windowBytes) {
        BindOptions options = new BindOptions(
                BindOptions.Dialect.TWO,
                BindOptions.DEFAULT_SUBSCRIPTION,
                new BindOptions.Start.Earliest(),
                window,
                windowBytes,
                1,
                false,
                mode,
                false,
                false);
        return new Consumer(sink, options, DeliveryConfig.DEFAULT);
    }

    private Consumer bind(RecordingSink sink, Mode mode, int window, long windowBytes) {
        Consumer made = consumer(sink, mode, window, windowBytes);
        rig.loop.bind(made);
        rig.settle();
        return made;
    }

    private void say(Consumer from, Verb verb, long first, long second) {
        SaidLines lines = new SaidLines();
        lines.add(verb, first, second, "");
        rig.loop.lines(from, lines);
    }

    @Test
    void thoseWhoShareTakeTurnsAndOneWithAFullWindowHoldsNobody() {
        bind(rig.sink, Mode.SHARED, 2, Long.MAX_VALUE);
        bind(otherSink, Mode.SHARED, 100, Long.MAX_VALUE);

        rig.publish(rig.events(10, 1)).join();

        assertThat(rig.sink.ids).containsExactly(1L, 3L);
        assertThat(otherSink.ids).containsExactly(2L, 4L, 5L, 6L, 7L, 8L, 9L, 10L);
    }

    @Test
    void oneEventAlwaysFitsAndFurtherOnesOnlyIntoTheWindowOfBytes() {
        Consumer one = bind(rig.sink, Mode.EXCLUSIVE, 100, 50);
        rig.publish(rig.events(1, 80)).join();
        rig.publish(rig.events(3, 25)).join();
        assertThat(rig.sink.ids).containsExactly(1L);

        say(one, Verb.ACK, 1, 1);
        rig.settle();

        assertThat(rig.sink.ids).containsExactly(1L, 2L, 3L);
    }

    @Test
    void aHugeRangeSettlesOnlyWhatWasDelivered() {
        Consumer one = bind(rig.sink, Mode.EXCLUSIVE, 3, Long.MAX_VALUE);
        rig.publish(rig.events(10, 1)).join();

        say(one, Verb.ACK, 1, Long.MAX_VALUE);
        rig.settle();

        assertThat(rig.sink.ids).containsExactly(1L, 2L, 3L, 4L, 5L, 6L);
        assertThat(rig.loop.status().floor()).isEqualTo(3);
    }

    @Test
    void anAckUpToSettlesNothingThatWasSentOnAnotherConnection() {
        bind(rig.sink, Mode.SHARED, 2, Long.MAX_VALUE);
        Consumer two = bind(otherSink, Mode.SHARED, 2, Long.MAX_VALUE);
        rig.publish(rig.events(4, 1)).join();

        say(two, Verb.ACK_UP_TO, 4, 0);
        rig.settle();

        assertThat(rig.sink.ids).containsExactly(1L, 3L);
        assertThat(rig.loop.status().inFlight()).isEqualTo(2);
        assertThat(rig.loop.status().floor()).isZero();
    }

    @Test
    void aHoldCountsThoughThereWasNoTurnSinceTheEventWasSent() {
        Consumer one = bind(rig.sink, Mode.EXCLUSIVE, 10, Long.MAX_VALUE);
        rig.publish(1).join(); // the first append has files made for it, which takes turns
        say(one, Verb.ACK, 1, 1);
        rig.settle();
        rig.offer(rig.event(1), new Answer());
        rig.turn();
        assertThat(rig.sink.ids).containsExactly(1L, 2L);
        rig.nowNanos += 20 * LoopRig.SECOND;
        say(one, Verb.HOLD, 2, 0);
        rig.nowNanos += 29 * LoopRig.SECOND;
        rig.settle();
        assertThat(rig.sink.ids).containsExactly(1L, 2L);

        rig.nowNanos += LoopRig.SECOND;
        rig.settle();

        assertThat(rig.sink.ids).containsExactly(1L, 2L, 2L);
    }

    @Test
    void whoUnbindsGivesBackUncountedAndItsLateAckCounts() {
        Consumer one = bind(rig.sink, Mode.EXCLUSIVE, 10, Long.MAX_VALUE);
        rig.publish(1).join();

        rig.loop.unbind(one);
        say(one, Verb.NACK, 1, ConsumerLink.BACKOFF);
        rig.settle();
        assertThat(rig.loop.status().waiting()).isOne();
        say(one, Verb.ACK, 1, 1);
        rig.settle();

        assertThat(rig.sink.said).containsExactly("bound", "unbound");
        assertThat(rig.loop.status().floor()).isOne();
    }

    @Test
    void whatANewcomerAckedEarlyGoesAheadOfItsFirstDeliveryWhenTheProbeRunsOut() {
        rig.bind();
        rig.publish(1).join();
        rig.publish(1).join();
        Consumer newcomer = new Consumer(otherSink, BindOptions.DIALECT_1, DeliveryConfig.DEFAULT);
        otherSink.onBound(() -> rig.submit(() -> rig.loop.lines(newcomer, Said.acks(1))));
        rig.loop.bind(newcomer);
        rig.settle();

        rig.nowNanos += 6 * LoopRig.SECOND;
        rig.settle();

        assertThat(rig.sink.said).containsExactly("bound", "probe", "takenOver");
        assertThat(otherSink.ids).containsExactly(2L);
    }

    @Test
    void whoBindsAFailedPipeInDialect2IsRefusedAndWhoSpeaksDialect1Waits() {
        bind(otherSink, Mode.SHARED, 10, Long.MAX_VALUE);
        rig.loop.fail(new IllegalStateException("broken"));
        RecordingSink late = new RecordingSink();
        rig.loop.bind(consumer(late, Mode.SHARED, 10, Long.MAX_VALUE));
        rig.loop.bind(rig.consumer);
        rig.settle();
        assertThat(otherSink.said).containsExactly("bound", "refused");
        assertThat(late.said).containsExactly("refused");
        assertThat(rig.sink.said).isEmpty();

        rig.nowNanos += LoopRig.SECOND;
        rig.settle();

        assertThat(rig.sink.said).containsExactly("bound");
    }

    @Test
    void anEventThatIsAckedWhileItIsGivenUpWaitsNoMore() {
        Consumer one = bind(rig.sink, Mode.EXCLUSIVE, 10, Long.MAX_VALUE);
        rig.publish(1).join();
        say(one, Verb.TERM, 1, 0);
        assertThat(rig.loop.status().waiting()).isOne();

        say(one, Verb.ACK, 1, 1);

        assertThat(rig.loop.status().waiting()).isZero();
        rig.settle();
        assertThat(rig.loop.status().deadLetters()).isZero();
    }

    @Test
    void theQuotaIsGivenBackWhenAConsumerLeavesAndWhenThePipeFails() {
        Consumer one = bind(rig.sink, Mode.SHARED, 2, Long.MAX_VALUE);
        bind(otherSink, Mode.SHARED, 2, Long.MAX_VALUE);
        rig.publish(rig.events(9, 1)).join();
        assertThat(rig.quota.inFlightEvents()).isEqualTo(4);

        rig.loop.gone(one);
        assertThat(rig.quota.inFlightEvents()).isEqualTo(2);
        rig.loop.fail(new IllegalStateException("broken"));

        assertThat(rig.quota.inFlightEvents()).isZero();
        assertThat(rig.quota.unwrittenBytes()).isZero();
    }
}
