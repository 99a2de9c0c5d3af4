package io.tabletrelay.core.delivery;

import io.tabletrelay.api.Payload;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.EventLog;
import io.tabletrelay.core.store.EventTailer;
import io.tabletrelay.core.store.ForceFailedException;
import io.tabletrelay.core.store.acks.SettledIds;
import io.tabletrelay.core.store.folder.SubscriptionFiles;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A pipe's given-up events, kept with why: a log of its own, whose records carry the reason as headers.
 *
 * <p>Threading: used by one I/O task of the pipe at a time; {@link #count} may be read by any thread.
 */
public final class DeadLetters {
    private static final String EVENT_ID = "relay-event-id";
    private static final String REASON = "relay-reason";
    private static final String FAILED_DELIVERIES = "relay-failed-deliveries";
    private static final String LAST_ERROR = "relay-last-error";
    private static final String SUBSCRIPTION = "relay-subscription";

    private static final long MOST_UNSETTLED = 4L * GivingUp.MOST_IN_A_BATCH;

    private final EventLog log;
    private final String subscription;
    private final AtomicLong count;

    public DeadLetters(EventLog log) {
        this(log, BindOptions.DEFAULT_SUBSCRIPTION, new AtomicLong(log.lastId() - log.voidIds()));
    }

    private DeadLetters(EventLog log, String subscription, AtomicLong count) {
        this.log = log;
        this.subscription = subscription;
        this.count = count;
    }

    /** The same ones; what is added by this is of that subscription. */
    public DeadLetters of(String subscriptionName) {
        return new DeadLetters(log, subscriptionName, count);
    }

    public long count() {
        return count.get();
    }

    /** The payload to store for an event that is given up; the event's own headers stay with it. */
    Payload describe(Payload event, long eventId, String reason, int failedDeliveries, String lastError) {
        Map<String, String> headers = new HashMap<>(event.headers());
        headers.put(EVENT_ID, Long.toString(eventId));
        headers.put(REASON, reason);
        headers.put(FAILED_DELIVERIES, Integer.toString(failedDeliveries));
        headers.put(LAST_ERROR, lastError);
        headers.put(SUBSCRIPTION, subscription);
        return new Payload(event.contentType(), headers, event.bytes());
    }

    /** Appends what {@link #describe} made; when this returns they are durable at the pipe's level. */
    void append(EventGroup letters) {
        if (!log.hasRoomFor(letters)) {
            log.makeRoomFor(letters);
        }
        log.append(letters);
        try {
            log.force();
        } catch (ForceFailedException e) {
            log.voidUncovered();
            throw e;
        }
        count.addAndGet(letters.size());
    }

    /**
     * Settles what was given up and not yet settled when the process died in between: the last batch at most, since none is
     * written before the events of the one before are settled. A few batches of each are looked at, for what a power cut took.
     *
     * <p>I/O thread, before the subscription is opened.
     */
    public void settleIn(Collection<SubscriptionFiles> subscriptions) {
        if (log.lastId() == 0 || subscriptions.isEmpty()) {
            return;
        }
        Map<String, SubscriptionFiles> byName = new HashMap<>();
        subscriptions.forEach(files -> byName.put(files.name(), files));
        log.force();
        try (EventTailer tailer = log.openTailer()) {
            tailer.moveTo(Math.max(log.firstId(), log.lastId() - MOST_UNSETTLED * subscriptions.size() + 1));
            for (EventTailer.Step step = tailer.nextOpened();
                    step != EventTailer.Step.END;
                    step = tailer.nextOpened()) {
                if (step == EventTailer.Step.EVENT) {
                    settle(tailer.id(), tailer.headers(), byName);
                }
            }
        }
    }

    private static void settle(long number, Map<String, String> letter, Map<String, SubscriptionFiles> byName) {
        SubscriptionFiles of = byName.get(letter.getOrDefault(SUBSCRIPTION, BindOptions.DEFAULT_SUBSCRIPTION));
        if (of == null || number <= of.lettersBefore()) {
            return;
        }
        SettledIds settled = of.settled();
        long eventId = longHeader(letter, EVENT_ID);
        if (eventId > settled.floor() && eventId <= settled.deliveredUpTo()) {
            settled.settle(eventId);
        }
    }

    /** Up to {@code limit} dead letters with numbers above {@code after}, oldest first. */
    public List<DeadLetter> list(long after, int limit) {
        List<DeadLetter> letters = new ArrayList<>();
        try (EventTailer tailer = log.openTailer()) {
            tailer.moveTo(Math.max(after + 1, log.firstId()));
            while (letters.size() < limit) {
                EventTailer.Step step = tailer.nextOpened();
                if (step == EventTailer.Step.END) {
                    break;
                }
                if (step == EventTailer.Step.EVENT) {
                    letters.add(letter(tailer));
                }
            }
        }
        return letters;
    }

    private static DeadLetter letter(EventTailer tailer) {
        Map<String, String> headers = tailer.headers();
        return new DeadLetter(
                tailer.id(),
                longHeader(headers, EVENT_ID),
                headers.getOrDefault(REASON, ""),
                (int) longHeader(headers, FAILED_DELIVERIES),
                headers.getOrDefault(LAST_ERROR, ""),
                tailer.appendedAtMillis(),
                tailer.payload().remaining(),
                headers.getOrDefault(SUBSCRIPTION, BindOptions.DEFAULT_SUBSCRIPTION));
    }

    private static long longHeader(Map<String, String> headers, String name) {
        return Long.parseLong(headers.getOrDefault(name, "0"));
    }
}
