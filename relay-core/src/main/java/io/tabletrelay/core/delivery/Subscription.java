package io.tabletrelay.core.delivery;

import io.tabletrelay.core.config.DeliveryConfig;
import io.tabletrelay.core.metrics.PipeMetrics;
import io.tabletrelay.core.metrics.RedeliveryReason;
import io.tabletrelay.core.store.EventLog;
import io.tabletrelay.core.store.EventTailer;
import io.tabletrelay.core.store.acks.AttemptJournal;
import io.tabletrelay.core.store.acks.SettledIds;
import java.nio.ByteBuffer;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A durable reading of a pipe: what was delivered to the consumer that is bound, what it settled, and what must go again.
 *
 * <p>Each unsettled event is in exactly one place: not yet delivered (from the cursor on), in flight (in the window), waiting
 * for its redelivery (in the schedule), or being given up. It is put into the window before its first byte can leave.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 */
public final class Subscription implements AutoCloseable {
    private static final int LOSSES_UNTIL_ONE_AT_A_TIME = 3;
    /** Then each further loss of an event that was alone in flight waits longer, or a flapping consumer would use it up. */
    private static final int FREE_LOSSES = 3;

    private final EventLog log;
    private final SettledIds settled;
    private final AttemptJournal attempts;
    private final GivingUp givingUp;
    private final SettledIdsGrowth growth;
    private final NewEvents newEvents;
    private final EventReader redeliveries;
    private final InFlightWindow window = new InFlightWindow();
    private final RedeliverySchedule schedule = new RedeliverySchedule();
    /** Timed out and still at the consumer, as far as we know: each keeps its slot of the window. */
    private final TreeSet<Long> timedOut = new TreeSet<>();

    private final int windowEvents;
    private final int maxDeliveries;
    private final long ackTimeoutNanos;
    private final Backoff backoff;
    private final LongSupplier nanoTime;
    private final InstantSource clock;
    private final LossStreak losses;
    private final PipeMetrics metrics;

    private @Nullable Consumer consumer;
    /** In this turn. */
    private int acked;

    private boolean stopped;
    private boolean paused;
    private boolean finished;

    /** Takes up the reading where it was left: everything unsettled that was delivered before goes again. */
    public Subscription(
            EventLog log,
            SettledIds settled,
            AttemptJournal attempts,
            DeadLetters deadLetters,
            DiskTasks diskTasks,
            DeliveryContext context,
            LossStreak losses,
            PipeMetrics metrics) {
        DeliveryConfig config = context.config();
        this.log = log;
        this.settled = settled;
        this.attempts = attempts;
        this.nanoTime = context.nanoTime();
        this.clock = context.clock();
        this.growth = new SettledIdsGrowth(settled, diskTasks, nanoTime);
        this.givingUp = new GivingUp(deadLetters, diskTasks, this::gaveUp, nanoTime, clock);
        this.redeliveries = new EventReader(log.openTailer(), diskTasks);
        this.windowEvents = config.windowEvents();
        this.maxDeliveries = config.redelivery().maxDeliveries();
        this.ackTimeoutNanos = config.redelivery().ackTimeout().toNanos();
        this.backoff = new Backoff(config.redelivery(), context.random());
        this.losses = losses;
        this.metrics = metrics;
        advanceFloor();
        EventReader reader = new EventReader(log.openTailer(), diskTasks);
        this.newEvents = new NewEvents(log, reader, settled, growth, givingUp, this::isElsewhere, metrics);
        takeUpAttempts(config.redelivery().maxBackoff().toMillis());
    }

    /**
     * An event may have been settled, and the process killed, before the journal was told. A power cut may have left the
     * journal newer than the ring: what was not delivered as far as the ring knows comes in its order.
     */
    private void takeUpAttempts(long mostMillis) {
        long nowMillis = clock.millis();
        List<AttemptJournal.Attempt> stored = new ArrayList<>();
        attempts.forEach(stored::add);
        for (AttemptJournal.Attempt attempt : stored) {
            if (attempt.id() > log.lastId() || settled.isSettled(attempt.id())) {
                attempts.forget(attempt.id());
            } else if (attempt.id() <= settled.deliveredUpTo()) {
                // the clock may have been set back since
                long waitMillis = Math.max(0, Math.min(mostMillis, attempt.dueAtMillis() - nowMillis));
                schedule.at(nanoTime.getAsLong() + waitMillis * 1_000_000, attempt.id());
            }
        }
    }

    /** This connection has the subscription from now on. */
    public void attach(Consumer newConsumer) {
        consumer = newConsumer;
    }

    /**
     * The connection has it no more: what it held goes back, to be delivered again before anything new.
     *
     * @param lost true if the connection went away by itself, which counts as a failed delivery of an event that was alone
     *     in flight
     */
    public void detach(boolean lost) {
        consumer = null;
        timedOut.clear();
        long[] returned = window.clear();
        for (long id : returned) {
            schedule.now(id);
        }
        if (lost && returned.length > 0) {
            losses.lost();
        }
        if (lost && returned.length == 1) {
            int failures = failures(returned[0]);
            failed(
                    returned[0],
                    "connection lost",
                    failures < FREE_LOSSES ? 0 : backoff.nanosAfter(failures - FREE_LOSSES + 1));
        }
    }

    /** The relay is stopping: nothing is sent any more, acks still count. */
    public void stopSending() {
        stopped = true;
    }

    /** Nothing is sent while that is so, and no ack is missed; acks count. */
    public void pause(boolean pauses) {
        paused = pauses;
    }

    /** No event follows those that are there: who is bound is told so when all are settled. */
    public void finish() {
        finished = true;
    }

    /** The consumer is done with this event. Returns false for an id that was never delivered. */
    public boolean ack(long id) {
        if (id <= settled.floor()) {
            return id > 0;
        }
        if (id > settled.deliveredUpTo() || log.skipVoid(id) != id) {
            return false;
        }
        if (settle(id)) {
            acked++;
        }
        return true;
    }

    /** The consumer could not use this event. Counts only from the connection that has it; returns false otherwise. */
    public boolean nack(Consumer from, long id) {
        if (from != consumer) {
            return false;
        }
        if (timedOut.remove(id)) { // this copy's failure was counted when it timed out
            return true;
        }
        if (!window.remove(id)) {
            return false;
        }
        metrics.nacked(1);
        schedule.now(id);
        failed(id, "negative ack", backoff.nanosAfter(failures(id) + 1));
        return true;
    }

    /**
     * Everything up to this id is settled, delivered or not; the disk has been told. Returns how many events were not settled
     * before.
     */
    public long drop(long upToId) {
        long before = backlog();
        settled.skipTo(upToId);
        window.removeUpTo(upToId);
        schedule.removeUpTo(upToId);
        timedOut.headSet(upToId, true).clear();
        attempts.forgetUpTo(upToId);
        advanceFloor();
        return before - backlog();
    }

    /** Sends what may be sent, up to about that many payload bytes. Returns how many events that were. */
    public int deliver(int budgetBytes) {
        Consumer current = consumer;
        if (current == null || stopped || paused) {
            return 0;
        }
        DeliverySink sink = current.sink();
        long now = nanoTime.getAsLong();
        expire(sink, now);
        int sent = 0;
        int bytes = 0;
        for (; bytes < budgetBytes && sink.writable(); sent++) {
            EventTailer event = nextDelivery(now);
            if (event == null) {
                break;
            }
            bytes += send(sink, event, now);
        }
        if (sent > 0) {
            sink.flush();
            metrics.delivered(sent, bytes);
        }
        return sent;
    }

    /** Does what is due besides delivering; call once a turn. Returns true if there was something. */
    public boolean upkeep() {
        if (acked > 0) {
            metrics.acked(acked);
            acked = 0;
        }
        advanceFloor();
        Consumer current = consumer;
        if (finished && current != null && isAllSettled()) {
            current.end();
        }
        return givingUp.write();
    }

    /** When there will be something to do without a command, or {@code otherwise}. */
    public long nextDeadlineNanos(long otherwise) {
        long deadline = givingUp.retryNanos(otherwise);
        Consumer current = consumer;
        if (current == null || stopped || paused) {
            return deadline;
        }
        if (ackTimeoutNanos > 0 && window.size() > 0) {
            deadline = earlier(deadline, window.nextDeadlineNanos(nanoTime.getAsLong(), ackTimeoutNanos));
        }
        if (credit() > 0 && current.sink().writable()) { // otherwise a line, or the socket, will wake the pipe
            deadline = earlier(deadline, growth.retryNanos(otherwise));
            deadline = earlier(deadline, schedule.nextDueNanos(otherwise));
        }
        return deadline;
    }

    public long floor() {
        return settled.floor();
    }

    public long deliveredUpTo() {
        return settled.deliveredUpTo();
    }

    /** Events up to the log's end that are not settled. */
    public long backlog() {
        long floor = settled.floor();
        return log.lastId() - floor - settled.settledAboveFloor() - log.voidIdsAbove(floor);
    }

    public int inFlight() {
        return window.size();
    }

    /** Events that were delivered and wait to go again, those being given up included. */
    public int waiting() {
        return schedule.size() + givingUp.size();
    }

    /** True: nothing is known here that files do not say, and nothing will be done without a command. */
    public boolean isIdle() {
        boolean nothingAround = window.size() == 0 && timedOut.isEmpty() && givingUp.size() == 0;
        return nothingAround && (consumer == null || paused || backlog() == 0);
    }

    /** True: every event is settled, as durably as the pipe settles. */
    public boolean isAllSettled() {
        return backlog() == 0 && !settled.wantsForce();
    }

    public String trouble() {
        return givingUp.trouble().isEmpty() ? growth.trouble() : givingUp.trouble();
    }

    public EventState stateOf(long id) {
        AttemptJournal.@Nullable Attempt attempt = attempts.attempt(id);
        return new EventState(
                id,
                stateWord(id),
                attempt == null ? 0 : attempt.failedDeliveries(),
                attempt == null ? "" : attempt.reason());
    }

    private String stateWord(long id) {
        if (id < 1 || id > log.lastId()) {
            return "unknown";
        }
        if (id < log.firstId() && log.hasDeleted()) {
            return "settled";
        }
        if (log.skipVoid(id) != id) {
            return "void";
        }
        if (id <= settled.floor() || settled.isSettled(id)) {
            return "settled";
        }
        if (window.contains(id)) {
            return "in-flight";
        }
        return schedule.contains(id) || givingUp.contains(id) ? "waiting" : "undelivered";
    }

    @Override
    public void close() {
        newEvents.close();
        redeliveries.close();
    }

    private void expire(DeliverySink sink, long now) {
        if (window.size() == 0) {
            return;
        }
        window.written(sink.writtenBytes(), sink.lastWriteNanos());
        if (ackTimeoutNanos == 0) {
            return;
        }
        for (long id = window.expired(now, ackTimeoutNanos); id != 0; id = window.expired(now, ackTimeoutNanos)) {
            window.remove(id);
            timedOut.add(id);
            metrics.timedOut(1);
            schedule.now(id);
            failed(id, "ack timeout", 0);
        }
    }

    /**
     * Counts a failed delivery of an event in the schedule: it goes again after the wait, or is given up. While that cannot be,
     * since too many dead letters wait for the disk or its segment is not open, it goes again though its deliveries are used up.
     */
    private void failed(long id, String reason, long waitNanos) {
        int failures = failures(id) + 1;
        attempts.record(id, failures, clock.millis() + waitNanos / 1_000_000, reason);
        boolean usedUp = maxDeliveries > 0 && failures >= maxDeliveries;
        if (!(usedUp && giveUp(id, failures, reason)) && waitNanos > 0) {
            schedule.remove(id);
            schedule.at(nanoTime.getAsLong() + waitNanos, id);
        }
    }

    private boolean giveUp(long id, int failures, String reason) {
        EventTailer.Step step = givingUp.isFull() ? EventTailer.Step.OPENING : redeliveries.read(id);
        if (step == EventTailer.Step.OPENING || step == EventTailer.Step.END) {
            return false;
        }
        schedule.remove(id);
        timedOut.remove(id);
        if (step == EventTailer.Step.EVENT) {
            givingUp.event(redeliveries.found(), failures, reason);
        } else {
            givingUp.damaged(id);
        }
        return true;
    }

    private int failures(long id) {
        AttemptJournal.@Nullable Attempt attempt = attempts.attempt(id);
        return attempt == null ? 0 : attempt.failedDeliveries();
    }

    private int credit() {
        int most = losses.losses() >= LOSSES_UNTIL_ONE_AT_A_TIME ? 1 : windowEvents;
        return most - window.size() - timedOut.size();
    }

    /** Returns a tailer that stands on the next event to send, or null when nothing may be sent. */
    private @Nullable EventTailer nextDelivery(long now) {
        while (true) {
            long again = credit() > 0 ? schedule.firstDue(now) : timedOut.isEmpty() ? 0 : timedOut.first();
            if (again == 0) {
                return credit() > 0 ? newEvents.next() : null;
            }
            EventTailer.Step step = redeliveries.read(again);
            if (step == EventTailer.Step.OPENING || step == EventTailer.Step.END) { // END: not forced to disk yet
                return null;
            }
            schedule.remove(again);
            RedeliveryReason reason = timedOut.remove(again)
                    ? RedeliveryReason.ACK_TIMEOUT
                    : failures(again) > 0 ? RedeliveryReason.NACK : RedeliveryReason.CONNECTION_LOST;
            if (step == EventTailer.Step.EVENT) {
                metrics.redelivered(1, reason);
                return redeliveries.found();
            }
            givingUp.damaged(again);
        }
    }

    private boolean isElsewhere(long id) {
        return settled.isSettled(id) || window.contains(id) || schedule.contains(id) || givingUp.contains(id);
    }

    private int send(DeliverySink sink, EventTailer event, long now) {
        long id = event.id();
        ByteBuffer payload = event.payload();
        settled.raiseDeliveredUpTo(id);
        window.add(id, now);
        window.lastEndsAt(sink.deliver(id, event.appendedAtMillis(), 1, payload, Map.of()));
        return payload.remaining();
    }

    private void gaveUp(long id) {
        if (settle(id)) {
            metrics.deadLettered(1);
        }
    }

    private boolean settle(long id) {
        if (!settled.settle(id)) {
            return false;
        }
        if (!window.remove(id) && schedule.remove(id)) {
            timedOut.remove(id);
        }
        attempts.forget(id);
        losses.ends();
        return true;
    }

    private void advanceFloor() {
        long next = settled.floor() + 1;
        long live = log.skipVoid(next);
        while (live != next) {
            settled.skipTo(live - 1);
            next = settled.floor() + 1;
            live = log.skipVoid(next);
        }
    }

    private static long earlier(long a, long b) {
        return b - a < 0 ? b : a;
    }
}
