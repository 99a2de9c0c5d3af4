package io.tabletrelay.core.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.DeliveryConfig;
import io.tabletrelay.core.config.RedeliveryConfig;
import io.tabletrelay.core.metrics.RelayMetrics;
import io.tabletrelay.core.store.acks.AttemptJournal;
import io.tabletrelay.core.store.acks.SettledIds;
import io.tabletrelay.core.store.folder.HandledLetters;
import io.tabletrelay.core.store.folder.SubscriptionFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SubscriptionTest {
    private static final long SECOND = 1_000_000_000L;
    private static final Duration ACK_TIMEOUT = Duration.ofSeconds(30);

    @TempDir
    Path folder;

    private final MemoryLog log = new MemoryLog();
    private final MemoryLog deadLetterLog = new MemoryLog();
    private long nowNanos;
    private int window = 10;
    private int maxDeliveries = 5;
    private Subscription subscription;
    private RecordingSink sink = new RecordingSink();
    private Consumer consumer = new Consumer(sink, BindOptions.DIALECT_1, config());
    private boolean bound;

    @BeforeEach
    void open() {
        SettledIds settled = SettledIds.open(folder.resolve("default.settled"), 1, 0, 1 << 20);
        AttemptJournal attempts = AttemptJournal.open(folder.resolve("default.attempts"));
        DeadLetters deadLetters = letters();
        deadLetters.settleIn(
                List.of(new SubscriptionFiles(BindOptions.DEFAULT_SUBSCRIPTION, 0, 1, 0, settled, attempts)));
        subscription = new Subscription(
                log,
                settled,
                attempts,
                deadLetters,
                (work, then) -> {
                    Throwable failure = null;
                    try {
                        work.run();
                    } catch (RuntimeException e) {
                        failure = e;
                    }
                    then.accept(failure);
                },
                new DeliveryContext(
                        config(), () -> nowNanos, () -> Instant.ofEpochMilli(nowNanos / 1_000_000), new Random(1)),
                new LossStreak(),
                new RelayMetrics().pipe(new PipeName("p")));
        flush = attempts::flush;
    }

    private DeadLetters letters() {
        return new DeadLetters(deadLetterLog, HandledLetters.open(folder, 1 << 20, false));
    }

    private Runnable flush = () -> {};

    private DeliveryConfig config() {
        RedeliveryConfig redelivery = new RedeliveryConfig(
                ACK_TIMEOUT, ACK_TIMEOUT, Duration.ofSeconds(1), Duration.ofSeconds(60), maxDeliveries);
        return new DeliveryConfig(window, 1 << 20, Duration.ofSeconds(5), redelivery);
    }

    private void restart() {
        flush.run();
        open();
    }

    private void bind() {
        sink = new RecordingSink();
        consumer = new Consumer(sink, BindOptions.DIALECT_1, config());
        subscription.attach(consumer);
        bound = true;
    }

    private void turn() {
        subscription.deliver(1 << 20);
        subscription.upkeep();
    }

    private void appendNumbers(int from, int to) {
        for (int i = from; i <= to; i++) {
            log.append(Integer.toString(i));
        }
    }

    @Test
    void neverMoreThanTheWindowIsInFlight() {
        appendNumbers(1, 100);
        bind();
        turn();

        assertThat(sink.ids).containsExactly(1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L, 10L);
        assertThat(subscription.inFlight()).isEqualTo(10);
    }

    @Test
    void anAckFreesItsSlotAndARepeatedOneChangesNothing() {
        appendNumbers(1, 100);
        bind();
        turn();
        assertThat(subscription.ack(consumer, 3, 3)).isTrue();
        assertThat(subscription.ack(consumer, 3, 3)).isTrue();
        turn();

        assertThat(sink.ids).hasSize(11).endsWith(11L);
        assertThat(subscription.floor()).isZero();
        assertThat(subscription.backlog()).isEqualTo(99);
    }

    @Test
    void anEventThatFailedBeforeARestartWaitsForItsForceAndIsNotGivenUp() {
        appendNumbers(1, 10);
        bind();
        turn();
        assertThat(subscription.nack(consumer, 9, -1, "")).isTrue();
        log.forcedUpTo = 0;
        restart();
        nowNanos += Duration.ofMinutes(2).toNanos();
        bind();
        turn();
        assertThat(sink.ids).isEmpty();
        log.forcedUpTo = 10;
        turn();

        assertThat(sink.ids).containsExactlyInAnyOrder(1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L, 10L);
        assertThat(deadLetterLog.lastId()).isZero();
    }

    @Test
    void anAttemptThatThePowerCutLeftWithoutItsDeliveryComesInItsOrder() throws IOException {
        Path ring = folder.resolve("default.settled");
        byte[] onDisk = Files.readAllBytes(ring);
        appendNumbers(1, 100);
        bind();
        turn();
        assertThat(subscription.nack(consumer, 9, -1, "")).isTrue();
        flush.run();
        Files.write(ring, onDisk);

        open();
        nowNanos += Duration.ofMinutes(2).toNanos();
        bind();
        turn();

        assertThat(sink.ids).containsExactly(1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L, 10L);
        assertThat(subscription.stateOf(9).failedDeliveries()).isEqualTo(1);
    }

    @Test
    void anAckOfWhatWasNeverDeliveredIsRefused() {
        appendNumbers(1, 100);
        bind();
        turn();

        assertThat(subscription.ack(consumer, 11, 11)).isFalse();
        assertThat(subscription.ack(consumer, 0, 0)).isFalse();
        assertThat(subscription.ack(consumer, Long.MAX_VALUE, Long.MAX_VALUE)).isFalse();
        assertThat(subscription.backlog()).isEqualTo(100);
    }

    @Test
    void aLostConnectionGivesBackWhatItHeldAheadOfNewEvents() {
        appendNumbers(1, 5);
        bind();
        turn();
        subscription.ack(consumer, 1, 1);
        subscription.ack(consumer, 3, 3);
        subscription.detach(consumer, true);
        appendNumbers(6, 7);
        bind();
        turn();

        assertThat(sink.ids).containsExactly(2L, 4L, 5L, 6L, 7L);
    }

    @Test
    void anAckOfAnEarlierConnectionsDeliveryCounts() {
        appendNumbers(1, 3);
        bind();
        turn();
        subscription.detach(consumer, true);
        bind();

        assertThat(subscription.ack(consumer, 2, 2)).isTrue();
        turn();
        assertThat(sink.ids).containsExactly(1L, 3L);
    }

    @Test
    void afterARestartExactlyTheUnsettledComeAgainInOrder() {
        appendNumbers(1, 20);
        bind();
        turn();
        LongStream.of(2, 3, 7, 10).forEach(id -> subscription.ack(consumer, id, id));
        turn();
        restart();
        bind();
        turn();

        assertThat(sink.ids).containsExactly(1L, 4L, 5L, 6L, 8L, 9L, 11L, 12L, 13L, 14L);
        assertThat(subscription.ack(consumer, 2, 2)).isTrue();
        assertThat(subscription.ack(consumer, 15, 15)).isFalse();
    }

    @Test
    void aRefusedEventWaitsLongerEachTimeAndOthersPass() {
        maxDeliveries = 0;
        restart();
        appendNumbers(1, 2);
        bind();
        turn();
        subscription.ack(consumer, 2, 2);
        List<Long> waitsMillis = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            assertThat(subscription.nack(consumer, 1, -1, "")).isTrue();
            long waitNanos = subscription.nextDeadlineNanos(Long.MAX_VALUE) - nowNanos;
            waitsMillis.add(waitNanos / 1_000_000);
            nowNanos += waitNanos - 1;
            turn();
            assertThat(subscription.inFlight()).isZero();
            nowNanos += 1;
            turn();
            assertThat(subscription.inFlight()).isOne();
        }

        long[] expected = {1, 2, 4, 8, 16, 32, 60, 60};
        for (int i = 0; i < expected.length; i++) {
            assertThat(waitsMillis.get(i)).isBetween(expected[i] * 900, expected[i] * 1_100);
        }
    }

    @Test
    void aNegativeAckCountsOnlyFromTheConnectionThatHoldsTheEvent() {
        appendNumbers(1, 1);
        bind();
        turn();
        Consumer old = consumer;
        subscription.detach(consumer, false);
        bind();
        turn();

        assertThat(subscription.nack(old, 1, -1, "")).isFalse();
        assertThat(subscription.nack(consumer, 2, -1, "")).isFalse();
        assertThat(subscription.inFlight()).isOne();
    }

    @Test
    void anEventThatFailsTooOftenBecomesADeadLetterAndItsSlotIsFree() {
        window = 1;
        restart();
        appendNumbers(1, 2);
        bind();
        for (int i = 0; i < maxDeliveries; i++) {
            turn();
            assertThat(sink.ids).hasSize(i + 1).containsOnly(1L);
            subscription.nack(consumer, 1, -1, "");
            nowNanos += 100 * SECOND;
        }
        turn();
        turn();

        assertThat(sink.ids).hasSize(6).endsWith(2L);
        assertThat(letters().list(0, 10)).singleElement().satisfies(letter -> {
            assertThat(letter.eventId()).isEqualTo(1);
            assertThat(letter.reason()).isEqualTo("max-deliveries");
            assertThat(letter.failedDeliveries()).isEqualTo(5);
            assertThat(letter.lastError()).isEqualTo("negative ack");
            assertThat(letter.payloadBytes()).isEqualTo(1);
        });
        assertThat(subscription.floor()).isEqualTo(1);
    }

    @Test
    void attemptsAndDueTimesSurviveARestart() {
        appendNumbers(1, 2);
        bind();
        turn();
        subscription.nack(consumer, 1, -1, "");
        restart();
        bind();
        turn();
        assertThat(sink.ids).containsExactly(2L);
        assertThat(subscription.stateOf(1).failedDeliveries()).isEqualTo(1);

        nowNanos += 2 * SECOND;
        turn();
        assertThat(sink.ids).containsExactly(2L, 1L);
    }

    @Test
    void aClockThatWasSetBackMakesNoEventWaitLongerThanTheLongestBackoff() {
        nowNanos = 3_600 * SECOND;
        appendNumbers(1, 1);
        bind();
        turn();
        subscription.nack(consumer, 1, -1, "");
        nowNanos = 0;
        restart();
        bind();
        turn();
        assertThat(sink.ids).isEmpty();

        nowNanos = 60 * SECOND;
        turn();
        assertThat(sink.ids).containsExactly(1L);
    }

    @Test
    void attemptsOfAnEventThatWasSettledJustBeforeAKillAreForgotten() {
        appendNumbers(1, 2);
        bind();
        turn();
        subscription.nack(consumer, 2, -1, "");
        flush.run();
        subscription.ack(consumer, 2, 2);
        open();

        assertThat(subscription.stateOf(2).state()).isEqualTo("settled");
        assertThat(subscription.stateOf(2).failedDeliveries()).isZero();
    }

    @Test
    void aDeadLetterThatCannotBeWrittenKeepsTheEventWaiting() {
        maxDeliveries = 1;
        restart();
        deadLetterLog.full = true;
        appendNumbers(1, 2);
        bind();
        turn();
        subscription.nack(consumer, 1, -1, "");
        turn();
        assertThat(subscription.waiting()).isOne();
        assertThat(subscription.trouble()).contains("no space left");
        assertThat(subscription.floor()).isZero();

        deadLetterLog.full = false;
        nowNanos += 2 * SECOND;
        turn();
        assertThat(subscription.waiting()).isZero();
        assertThat(subscription.trouble()).isEmpty();
        assertThat(subscription.floor()).isEqualTo(1);
    }

    @Test
    void noMoreEventsAreGivenUpThanMayWaitForTheDisk() {
        maxDeliveries = 1;
        window = 4_200;
        restart();
        deadLetterLog.full = true;
        appendNumbers(1, 4_200);
        bind();
        turn();
        for (long id = 1; id <= 4_200; id++) {
            subscription.nack(consumer, id, -1, "");
        }
        turn();
        nowNanos += 2 * SECOND;
        turn();

        assertThat(sink.ids).hasSize(4_200 + 104).endsWith(4_199L, 4_200L);
    }

    @Test
    void aDeadLetterWrittenJustBeforeAKillIsNotWrittenAgain() {
        appendNumbers(1, 2);
        bind();
        turn();
        letters()
                .append(new io.tabletrelay.core.store.EventGroup(
                        List.of(letters().describe(MemoryLog.payload("1"), 1, "max-deliveries", 5, "negative ack")),
                        null,
                        0));
        restart();
        bind();
        turn();

        assertThat(sink.ids).containsExactly(2L);
        assertThat(subscription.floor()).isEqualTo(1);
    }

    @Test
    void afterTheAckTimeoutTheSameEventsComeAgainInOrderThoughTheWindowIsFull() {
        appendNumbers(1, 100);
        bind();
        turn();
        nowNanos += ACK_TIMEOUT.toNanos();
        turn();

        assertThat(sink.ids)
                .containsExactly(1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L, 10L, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L, 10L);
        assertThat(subscription.stateOf(1).failedDeliveries()).isOne();
    }

    @Test
    void aTimedOutCopyKeepsItsSlotUntilALineOrTheEndFreesIt() {
        maxDeliveries = 2;
        window = 2;
        restart();
        appendNumbers(1, 5);
        bind();
        turn();
        subscription.ack(consumer, 2, 2);
        turn();
        assertThat(sink.ids).containsExactly(1L, 2L, 3L);
        nowNanos += ACK_TIMEOUT.toNanos();
        turn();
        assertThat(sink.ids).containsExactly(1L, 2L, 3L, 1L, 3L);
        subscription.ack(consumer, 3, 3);
        turn();
        assertThat(sink.ids).endsWith(1L, 3L, 4L);

        nowNanos += ACK_TIMEOUT.toNanos();
        turn();
        turn();
        assertThat(subscription.stateOf(1).state()).isEqualTo("settled");
        assertThat(sink.ids).endsWith(4L, 4L, 5L);
    }

    @Test
    void theAckDeadlineDoesNotRunWhileTheBytesHaveNotLeft() {
        appendNumbers(1, 1);
        bind();
        sink.stalled = true;
        turn();
        nowNanos += 10 * ACK_TIMEOUT.toNanos();
        turn();
        assertThat(sink.ids).containsExactly(1L);

        sink.stalled = false;
        sink.lastWrite = nowNanos;
        turn();
        nowNanos += ACK_TIMEOUT.toNanos();
        turn();
        assertThat(sink.ids).containsExactly(1L, 1L);
    }

    @Test
    void lostConnectionsDoNotCountUnlessTheEventWasAlone() {
        appendNumbers(1, 2);
        for (int i = 0; i < 2; i++) {
            bind();
            turn();
            subscription.detach(consumer, true);
        }
        assertThat(subscription.stateOf(1).failedDeliveries()).isZero();

        bind();
        turn();
        subscription.ack(consumer, 2, 2);
        subscription.detach(consumer, true);
        assertThat(subscription.stateOf(1).failedDeliveries()).isOne();
    }

    @Test
    void afterThreeFruitlessLossesOneEventAtATimeSoThatThePoisonIsFound() {
        appendNumbers(1, 50);
        int connections = 0;
        while (subscription.floor() < 1) { // event 1 kills its consumer
            bind();
            turn();
            assertThat(sink.ids).hasSize(connections < 3 ? 10 : 1);
            subscription.detach(consumer, true);
            subscription.upkeep();
            nowNanos += 100 * SECOND;
            connections++;
        }

        assertThat(connections).isEqualTo(3 + maxDeliveries);
        bind();
        turn();
        assertThat(sink.ids).hasSize(10).startsWith(2L);
        assertThat(subscription.stateOf(2).failedDeliveries()).isZero();
    }

    @Test
    void aFlappingConsumerDoesNotUseUpAnEventInSeconds() {
        maxDeliveries = 20;
        restart();
        appendNumbers(1, 1);
        int connects = 0;
        while (subscription.floor() < 1) {
            bind();
            turn();
            subscription.detach(consumer, true);
            subscription.upkeep();
            nowNanos += SECOND / 50;
            connects++;
        }

        assertThat(nowNanos).isGreaterThan(10 * 60 * SECOND);
        assertThat(connects).isGreaterThan(1_000);
    }

    @Test
    void takeOversAndStopsNeverCount() {
        appendNumbers(1, 1);
        for (int i = 0; i < 30; i++) {
            bind();
            turn();
            assertThat(sink.ids).containsExactly(1L);
            subscription.detach(consumer, false);
        }

        assertThat(subscription.stateOf(1).failedDeliveries()).isZero();
    }

    @Test
    void voidIdsArePassedAndLeaveNoBacklog() {
        log.appendVoid(3);
        log.append("4");
        log.appendVoid(100);
        log.append("105", "106");
        restart();
        bind();
        turn();
        assertThat(sink.ids).containsExactly(4L, 105L, 106L);
        assertThat(subscription.backlog()).isEqualTo(3);

        assertThat(subscription.ack(consumer, 50, 50)).isFalse();
        LongStream.of(106, 105, 4).forEach(id -> subscription.ack(consumer, id, id));
        subscription.upkeep();
        assertThat(subscription.floor()).isEqualTo(106);
        assertThat(subscription.backlog()).isZero();
        assertThat(subscription.stateOf(50).state()).isEqualTo("void");
    }

    @Test
    void damagedEventsBecomeDeadLettersWithoutPayloadAndTheOthersAreDelivered() {
        appendNumbers(1, 10);
        log.damage(3, 5);
        bind();
        turn();
        turn();

        assertThat(sink.ids).containsExactly(1L, 2L, 6L, 7L, 8L, 9L, 10L);
        assertThat(letters().list(0, 10))
                .extracting(DeadLetter::eventId, DeadLetter::reason, DeadLetter::payloadBytes)
                .containsExactly(
                        org.assertj.core.groups.Tuple.tuple(3L, "damaged", 0),
                        org.assertj.core.groups.Tuple.tuple(4L, "damaged", 0),
                        org.assertj.core.groups.Tuple.tuple(5L, "damaged", 0));
        sink.ids.forEach(id -> subscription.ack(consumer, id, id));
        assertThat(subscription.floor()).isEqualTo(10);
    }

    @Test
    void manyDamagedEventsAreGivenUpAFewAtATime() {
        appendNumbers(1, 10_001);
        log.damage(1, 10_000);
        bind();
        for (int i = 0; i < 100 && sink.ids.isEmpty(); i++) {
            turn();
            assertThat(subscription.waiting()).isLessThanOrEqualTo(4096);
        }

        assertThat(sink.ids).containsExactly(10_001L);
        for (int i = 0; i < 100; i++) {
            turn();
        }
        assertThat(subscription.floor()).isEqualTo(10_000);
        assertThat(deadLetterLog.lastId()).isEqualTo(10_000);
    }

    @Test
    void aDamagedEventThatFailedBeforeIsGivenUpOnce() {
        appendNumbers(1, 5);
        bind();
        turn();
        subscription.nack(consumer, 3, -1, "");
        restart();
        log.damage(2, 4);
        nowNanos += 2 * SECOND;
        bind();
        turn();
        turn();

        assertThat(letters().list(0, 10)).extracting(DeadLetter::eventId).containsExactlyInAnyOrder(2L, 3L, 4L);
        assertThat(sink.ids).containsExactly(1L, 5L);
    }

    @Test
    void aSegmentIsOpenedFirstAndTheNextTurnDelivers() {
        appendNumbers(1, 3);
        bind();
        log.cold = true;
        turn();
        assertThat(sink.ids).isEmpty();
        turn();
        assertThat(sink.ids).containsExactly(1L, 2L, 3L);

        subscription.detach(consumer, true);
        bind();
        log.cold = true;
        turn();
        assertThat(sink.ids).isEmpty();
        assertThat(subscription.waiting()).isEqualTo(3);
        turn();
        assertThat(sink.ids).containsExactly(1L, 2L, 3L);
    }

    @Test
    void theRingGrowsWithTheSpreadBetweenTheOldestUnsettledAndTheNewest() {
        appendNumbers(1, 60_000);
        bind();
        turn();
        for (int i = 0; i < 60_000 && subscription.backlog() > 1; i++) {
            for (long id : sink.takeIds()) {
                if (id != 1) {
                    subscription.ack(consumer, id, id);
                }
            }
            turn();
        }

        assertThat(subscription.backlog()).isOne();
        assertThat(subscription.floor()).isZero();
        restart();
        bind();
        turn();
        assertThat(sink.ids).containsExactly(1L);
    }

    @Test
    void aRedeliveryThatIsDueWantsNoTurnWhileTheWindowIsFull() {
        window = 2;
        restart();
        appendNumbers(1, 3);
        bind();
        turn();
        subscription.nack(consumer, 1, -1, "");
        turn();

        nowNanos += 2 * SECOND;
        turn();

        assertThat(sink.ids).containsExactly(1L, 2L, 3L);
        assertThat(subscription.nextDeadlineNanos(Long.MAX_VALUE)).isEqualTo(ACK_TIMEOUT.toNanos());
    }

    @Test
    void aRingThatCannotGrowWantsNoTurnWhileNobodyIsBoundAndIsAllRightOnceItHasRoom() throws IOException {
        appendNumbers(1, 20_000);
        Files.createDirectories(folder.resolve("default.settled.tmp").resolve("in the way"));
        bind();
        for (turn(); subscription.trouble().isEmpty(); turn()) {
            sink.takeIds().stream().filter(id -> id > 1).forEach(id -> subscription.ack(consumer, id, id));
        }
        assertThat(subscription.nextDeadlineNanos(Long.MAX_VALUE)).isEqualTo(nowNanos + SECOND);

        subscription.detach(consumer, false);
        nowNanos += 2 * SECOND;
        assertThat(subscription.nextDeadlineNanos(Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE);

        subscription.ack(consumer, 1, 1);
        bind();
        turn();
        assertThat(sink.ids).hasSize(window);
        assertThat(subscription.trouble()).isEmpty();
        assertThat(subscription.nextDeadlineNanos(Long.MAX_VALUE)).isEqualTo(nowNanos + ACK_TIMEOUT.toNanos());
    }

    @Test
    void everyEventIsInExactlyOnePlaceWhateverHappens() {
        Random random = new Random(42);
        maxDeliveries = 3;
        restart();
        for (int i = 0; i < 20_000; i++) {
            step(random);
            long unaccounted = LongStream.rangeClosed(subscription.floor() + 1, log.lastId())
                    .mapToObj(id -> subscription.stateOf(id).state())
                    .filter(state -> !state.equals("settled") && !state.equals("void"))
                    .count();
            assertThat(subscription.backlog()).as("step %d of seed 42", i).isEqualTo(unaccounted);
        }
        nowNanos += 1_000 * SECOND;
        for (int i = 0; i < 20_000 && subscription.backlog() > 0; i++) {
            if (!bound) {
                bind();
            }
            turn();
            sink.takeIds().forEach(id -> subscription.ack(consumer, id, id));
            nowNanos += SECOND;
        }
        assertThat(subscription.backlog()).isZero();
        assertThat(subscription.waiting()).isZero();
    }

    private void step(Random random) {
        if (!bound) {
            bind();
        }
        long known = sink.ids.isEmpty() ? 1 : sink.ids.get(random.nextInt(sink.ids.size()));
        switch (random.nextInt(12)) {
            case 0 -> log.append("x");
            case 1 -> log.appendVoid(1 + random.nextInt(3));
            case 2, 3, 4 -> subscription.ack(consumer, known, known);
            case 5 -> subscription.nack(consumer, known, -1, "");
            case 6 -> nowNanos += random.nextInt(40) * SECOND;
            case 7 -> {
                if (random.nextInt(10) == 0) {
                    subscription.detach(consumer, random.nextBoolean());
                    bound = false;
                }
            }
            case 8 -> {
                if (random.nextInt(50) == 0) {
                    restart();
                    bound = false;
                }
            }
            default -> turn();
        }
        subscription.upkeep();
    }

    private final class RecordingSink implements DeliverySink {
        private final List<Long> ids = new ArrayList<>();
        private long given;
        private boolean stalled;
        private long lastWrite;

        List<Long> takeIds() {
            List<Long> taken = List.copyOf(ids);
            ids.clear();
            return taken;
        }

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
            assertThat(subscription.stateOf(id).state()).isEqualTo("in-flight");
            assertThat(StandardCharsets.UTF_8.decode(payload.duplicate()).toString())
                    .isNotEmpty();
            ids.add(id);
            return ++given;
        }

        @Override
        public void flush() {}

        @Override
        public long writtenBytes() {
            return stalled ? 0 : given;
        }

        @Override
        public long lastWriteNanos() {
            return lastWrite;
        }
    }
}
