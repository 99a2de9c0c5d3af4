package io.tabletrelay.core.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.api.Payload;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.DeliveryConfig;
import io.tabletrelay.core.metrics.RelayMetrics;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.acks.AttemptJournal;
import io.tabletrelay.core.store.acks.SettledIds;
import io.tabletrelay.core.store.folder.HandledLetters;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a subscription makes of events that were redriven, for it or for another one. */
class RedrivenEventsTest {
    @TempDir
    private Path folder;

    private final MemoryLog log = new MemoryLog();
    private final Sink sink = new Sink();
    private SettledIds settled;
    private AttemptJournal attempts;

    @BeforeEach
    void open() {
        settled = SettledIds.open(folder.resolve("a.settled"), 1, 0, 1 << 20);
        attempts = AttemptJournal.open(folder.resolve("a.attempts"));
    }

    @Test
    void thoseOfAnotherSubscriptionArePassedAsSettledThoughTheyAreInARow() {
        log.append("1");
        redriven("b");
        redriven("b");
        redriven("a");
        redriven("b");

        Subscription subscription = bind(false);
        subscription.deliver(1 << 20);

        assertThat(sink.ids).containsExactly(1L, 4L);
        assertThat(settled.settledAboveFloor()).isEqualTo(3);
        assertThat(settled.deliveredUpTo()).isEqualTo(5);
        assertThat(subscription.inFlight()).isEqualTo(2);
    }

    @Test
    void aHeaderOfThatNameAloneAddressesNobody() {
        log.append(new EventGroup(List.of(payload(Map.of(RelayHeaders.SUBSCRIPTION, "b"))), null, 0));

        bind(false).deliver(1 << 20);

        assertThat(sink.ids).containsExactly(1L);
    }

    /** A power cut may take the bit of an event that was passed, and leave a later one's failed delivery. */
    @Test
    void strictOrderHoldsWhenWhatComesBeforeTheWaitingEventIsAnothers() {
        redriven("b");
        log.append("2", "3");
        settled.raiseDeliveredUpTo(2);
        attempts.record(2, 1, 100_000, "no such unit");

        bind(true).deliver(1 << 20);

        assertThat(sink.ids).isEmpty();
    }

    private void redriven(String subscription) {
        Map<String, String> headers = Map.of(RelayHeaders.REDRIVEN_FROM, "1", RelayHeaders.SUBSCRIPTION, subscription);
        log.append(new EventGroup(List.of(payload(headers)), null, 0));
    }

    private static Payload payload(Map<String, String> headers) {
        return new Payload("b", headers, ByteBuffer.allocate(1));
    }

    private Subscription bind(boolean strict) {
        DeadLetters letters = new DeadLetters(new MemoryLog(), HandledLetters.open(folder, 1 << 20, false));
        Subscription subscription = new Subscription(
                log,
                settled,
                attempts,
                letters.of("a"),
                (work, then) -> {
                    work.run();
                    then.accept(null);
                },
                new DeliveryContext(DeliveryConfig.DEFAULT, () -> 0, () -> Instant.EPOCH, new Random(1)),
                new LossStreak(),
                new RelayMetrics().pipe(new PipeName("p")));
        subscription.attach(new Consumer(
                sink,
                new BindOptions(
                        BindOptions.Dialect.TWO,
                        "a",
                        new BindOptions.Start.Earliest(),
                        10,
                        Long.MAX_VALUE,
                        10,
                        strict,
                        BindOptions.Mode.EXCLUSIVE,
                        false,
                        false),
                DeliveryConfig.DEFAULT));
        return subscription;
    }

    private static final class Sink implements DeliverySink {
        private final List<Long> ids = new ArrayList<>();

        @Override
        public void bound(@Nullable Bound answer) {}

        @Override
        public void refused(RelayException why) {}

        @Override
        public void probe() {}

        @Override
        public void takenOver() {}

        @Override
        public void unbound() {}

        @Override
        public void ended() {}

        @Override
        public void acked(long[] firstIds, long[] lastIds) {}

        @Override
        public boolean writable() {
            return true;
        }

        @Override
        public long deliver(
                long id, long appendedAtMillis, int delivery, ByteBuffer payload, Map<String, String> headers) {
            ids.add(id);
            return ids.size();
        }

        @Override
        public void flush() {}

        @Override
        public long writtenBytes() {
            return ids.size();
        }

        @Override
        public long lastWriteNanos() {
            return 0;
        }
    }
}
