package io.tabletrelay.core.delivery;

import io.tabletrelay.core.store.EventTailer;
import io.tabletrelay.core.store.acks.AttemptJournal;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Events that were delivered in vain: how often, when they go again, and when they are given up.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 */
final class FailedDeliveries {
    private static final int MOST_REASON_CHARS = 500;
    private static final String USED_UP = "max-deliveries";
    private static final String TERMINATED = "terminated";

    private final AttemptJournal attempts;
    private final RedeliverySchedule schedule;
    private final GivingUp givingUp;
    private final EventReader reader;
    private final int maxDeliveries;
    private final LongSupplier nanoTime;
    private final InstantSource clock;
    /** To be given up without another delivery, and why; their events could not be read yet. */
    private final Map<Long, String> terminated = new HashMap<>();

    FailedDeliveries(
            AttemptJournal attempts,
            RedeliverySchedule schedule,
            GivingUp givingUp,
            EventReader reader,
            int maxDeliveries,
            LongSupplier nanoTime,
            InstantSource clock) {
        this.attempts = attempts;
        this.schedule = schedule;
        this.givingUp = givingUp;
        this.reader = reader;
        this.maxDeliveries = maxDeliveries;
        this.nanoTime = nanoTime;
        this.clock = clock;
    }

    /** How often the event was delivered in vain. */
    int failures(long id) {
        AttemptJournal.@Nullable Attempt attempt = attempts.attempt(id);
        return attempt == null ? 0 : attempt.failedDeliveries();
    }

    /** What the last failure was; empty if there was none. */
    String lastReason(long id) {
        AttemptJournal.@Nullable Attempt attempt = attempts.attempt(id);
        return attempt == null ? "" : attempt.reason();
    }

    /**
     * Counts a failed delivery of an event in the schedule: it goes again after the wait, or is given up. While that cannot be,
     * since too many dead letters wait for the disk or its segment is not open, it goes again though its deliveries are used up.
     */
    void failed(long id, String reason, long waitNanos) {
        int failures = failures(id) + 1;
        String kept = kept(reason);
        attempts.record(id, failures, clock.millis() + waitNanos / 1_000_000, kept);
        boolean usedUp = maxDeliveries > 0 && failures >= maxDeliveries;
        if (!(usedUp && giveUp(id, USED_UP, failures, kept)) && waitNanos > 0) {
            schedule.remove(id);
            schedule.at(nanoTime.getAsLong() + waitNanos, id);
        }
    }

    /** The event, which is in the schedule, is given up as soon as it can be read, and not delivered before. */
    void terminate(long id, String reason) {
        terminated.put(id, kept(reason));
        giveUpTerminated();
    }

    boolean isTerminated(long id) {
        return !terminated.isEmpty() && terminated.containsKey(id);
    }

    /** Gives up what could not be read before; call once a turn. */
    void giveUpTerminated() {
        if (!terminated.isEmpty()) {
            terminated
                    .entrySet()
                    .removeIf(each -> !schedule.contains(each.getKey())
                            || giveUp(each.getKey(), TERMINATED, failures(each.getKey()), each.getValue()));
        }
    }

    /** The event is settled. */
    void forget(long id) {
        attempts.forget(id);
    }

    void forgetUpTo(long id) {
        attempts.forgetUpTo(id);
    }

    /** Calls back with each event that the journal knows; it may be forgotten meanwhile. */
    void forEachStored(Consumer<AttemptJournal.Attempt> each) {
        List<AttemptJournal.Attempt> stored = new ArrayList<>();
        attempts.forEach(stored::add);
        stored.forEach(each);
    }

    private boolean giveUp(long id, String why, int failures, String lastError) {
        EventTailer.Step step = givingUp.isFull() ? EventTailer.Step.OPENING : reader.read(id);
        if (step == EventTailer.Step.OPENING || step == EventTailer.Step.END) {
            return false;
        }
        schedule.remove(id);
        if (step == EventTailer.Step.EVENT) {
            givingUp.event(reader.found(), why, failures, lastError);
        } else {
            givingUp.damaged(id);
        }
        return true;
    }

    private static String kept(String reason) {
        return reason.length() <= MOST_REASON_CHARS ? reason : reason.substring(0, MOST_REASON_CHARS);
    }
}
