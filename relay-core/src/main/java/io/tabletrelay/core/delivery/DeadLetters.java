package io.tabletrelay.core.delivery;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.Payload;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.EventLog;
import io.tabletrelay.core.store.EventTailer;
import io.tabletrelay.core.store.ForceFailedException;
import io.tabletrelay.core.store.OldSegments;
import io.tabletrelay.core.store.StoreException;
import io.tabletrelay.core.store.acks.SettledIds;
import io.tabletrelay.core.store.folder.HandledLetters;
import io.tabletrelay.core.store.folder.SubscriptionFiles;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A pipe's given-up events, kept with why: a log of its own, whose records carry the reason as headers. Each can be redriven or purged
 * once, and is not shown any more then.
 *
 * <p>Threading: used by one I/O task of the pipe at a time; {@link #count} may be read by any thread.
 */
public final class DeadLetters {
    private static final Logger LOG = LoggerFactory.getLogger(DeadLetters.class);
    static final String DAMAGED = "damaged";
    private static final long MOST_UNSETTLED = 4L * GivingUp.MOST_IN_A_BATCH;

    /** More are not redriven by one append. */
    static final int MOST_REDRIVEN = 256;

    private static final int MOST_BYTES_REDRIVEN = 1 << 20;
    private static final int MOST_PURGED = 10_000;

    private final EventLog log;
    private final HandledLetters handled;
    private final String subscription;
    private final AtomicLong count;

    public DeadLetters(EventLog log, HandledLetters handled) {
        this(log, handled, BindOptions.DEFAULT_SUBSCRIPTION, new AtomicLong(handled.openLetters(log)));
    }

    private DeadLetters(EventLog log, HandledLetters handled, String subscription, AtomicLong count) {
        this.log = log;
        this.handled = handled;
        this.subscription = subscription;
        this.count = count;
    }

    /** The same ones; what is added by this is of that subscription. */
    public DeadLetters of(String subscriptionName) {
        return new DeadLetters(log, handled, subscriptionName, count);
    }

    String subscription() {
        return subscription;
    }

    /** Those that were neither redriven nor purged. */
    public long count() {
        return count.get();
    }

    /** The payload to store for an event that is given up; the event's own headers stay with it. */
    Payload describe(Payload event, long eventId, String reason, int failedDeliveries, String lastError) {
        Map<String, String> headers = new HashMap<>(event.headers());
        headers.put(RelayHeaders.EVENT_ID, Long.toString(eventId));
        headers.put(RelayHeaders.REASON, reason);
        headers.put(RelayHeaders.FAILED_DELIVERIES, Integer.toString(failedDeliveries));
        headers.put(RelayHeaders.LAST_ERROR, lastError);
        headers.put(RelayHeaders.SUBSCRIPTION, subscription);
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
        count.set(handled.openLetters(log));
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
        SubscriptionFiles of =
                byName.get(letter.getOrDefault(RelayHeaders.SUBSCRIPTION, BindOptions.DEFAULT_SUBSCRIPTION));
        if (of == null || number <= of.lettersBefore()) {
            return;
        }
        SettledIds settled = of.settled();
        long eventId = longHeader(letter, RelayHeaders.EVENT_ID);
        if (eventId > settled.floor() && eventId <= settled.deliveredUpTo()) {
            settled.settle(eventId);
        }
    }

    /** Up to {@code limit} dead letters with numbers above {@code after} that are not handled, oldest first. */
    public List<DeadLetter> list(long after, int limit) {
        List<DeadLetter> letters = new ArrayList<>();
        read(LetterSelection.ALL, after, (letter, tailer) -> letters.size() < limit && letters.add(letter));
        return letters;
    }

    /** The dead letter of that number with what is left of its event; null: there is none, or it is handled. */
    public @Nullable LetterContent find(long number) {
        AtomicReference<@Nullable LetterContent> found = new AtomicReference<>();
        read(new LetterSelection(List.of(number), "", ""), 0, (letter, tailer) -> {
            Map<String, String> headers = new HashMap<>(tailer.headers());
            headers.keySet().removeAll(RelayHeaders.OF_LETTERS);
            found.set(new LetterContent(letter, copy(tailer, headers)));
            return false;
        });
        return found.get();
    }

    /** The newest dead letter of an event, handled or not, by the subscription for which it was given up. */
    public Map<String, DeadLetter> ofEvent(long eventId) {
        Map<String, DeadLetter> found = new HashMap<>();
        String wanted = Long.toString(eventId);
        try (EventTailer tailer = log.openTailer()) {
            tailer.moveTo(log.firstId());
            for (EventTailer.Step step = tailer.nextOpened();
                    step != EventTailer.Step.END;
                    step = tailer.nextOpened()) {
                if (step == EventTailer.Step.EVENT && wanted.equals(tailer.header(RelayHeaders.EVENT_ID))) {
                    DeadLetter letter = letter(tailer);
                    found.put(letter.subscription(), letter);
                }
            }
        }
        return found;
    }

    /** True: it was redriven or purged. */
    public boolean isHandled(long number) {
        return handled.isHandled(number);
    }

    /** What is given to {@link #read}. */
    private interface Visitor {
        /** False: no further one is wanted. */
        boolean letter(DeadLetter letter, EventTailer tailer);
    }

    private void read(LetterSelection selection, long after, Visitor visitor) {
        if (log.lastId() == 0) {
            return;
        }
        try (EventTailer tailer = log.openTailer()) {
            if (selection.numbers().isEmpty()) {
                readAll(tailer, selection, after, visitor);
            } else {
                readEach(tailer, selection, visitor);
            }
        }
    }

    private void readAll(EventTailer tailer, LetterSelection selection, long after, Visitor visitor) {
        tailer.moveTo(Math.max(Math.max(after, handled.floor(log)) + 1, log.firstId()));
        for (EventTailer.Step step = tailer.nextOpened(); step != EventTailer.Step.END; step = tailer.nextOpened()) {
            if (step == EventTailer.Step.EVENT && !visit(tailer, selection, visitor)) {
                return;
            }
        }
    }

    private void readEach(EventTailer tailer, LetterSelection selection, Visitor visitor) {
        for (long number : selection.numbers()) {
            if (number < log.firstId() || number > log.lastId()) {
                continue;
            }
            tailer.moveTo(number);
            boolean found = tailer.nextOpened() == EventTailer.Step.EVENT && tailer.id() == number;
            if (found && !visit(tailer, selection, visitor)) {
                return;
            }
        }
    }

    private boolean visit(EventTailer tailer, LetterSelection selection, Visitor visitor) {
        if (handled.isHandled(tailer.id())) {
            return true;
        }
        DeadLetter letter = letter(tailer);
        return !selection.matches(letter) || visitor.letter(letter, tailer);
    }

    /**
     * Takes letters to be redriven by one append, and puts down that they are; on disk when this returns.
     *
     * @param pipe its name, for messages
     * @param subscriptions those that there are
     * @param above the newest id in the log of events
     * @throws RelayException with NO_SUCH_SUBSCRIPTION for a letter of one that is gone; nothing has changed then
     */
    public RedrivenLetters beginRedrive(LetterSelection selection, String pipe, Set<String> subscriptions, long above) {
        RedrivenLetters taken = new RedrivenLetters(MOST_REDRIVEN, MOST_BYTES_REDRIVEN);
        read(selection, 0, (letter, tailer) -> {
            if (letter.reason().equals(DAMAGED)) {
                taken.pass();
                return true;
            }
            if (!subscriptions.contains(letter.subscription())) {
                throw gone(letter, pipe);
            }
            int bytes = tailer.payload().remaining();
            return taken.fits(bytes) && taken.add(letter, redriven(letter, tailer));
        });
        if (!taken.numbers().isEmpty()) {
            handled.begin(new HandledLetters.Redrive(above, taken.numbers()));
        }
        return taken;
    }

    private static RelayException gone(DeadLetter letter, String pipe) {
        return new RelayException(
                ErrorCode.NO_SUCH_SUBSCRIPTION,
                "dead letter cannot be redriven: pipe=" + pipe + ", number=" + letter.number() + ", subscription="
                        + letter.subscription()
                        + ", which is gone; make it again, purge its dead letters, or select those of another one");
    }

    private static Payload redriven(DeadLetter letter, EventTailer tailer) {
        Map<String, String> headers = new HashMap<>(tailer.headers());
        headers.keySet().removeAll(RelayHeaders.OF_LETTERS);
        headers.put(RelayHeaders.REDRIVEN_FROM, Long.toString(letter.eventId()));
        headers.put(RelayHeaders.DEAD_LETTER, Long.toString(letter.number()));
        headers.put(RelayHeaders.SUBSCRIPTION, letter.subscription());
        return copy(tailer, headers);
    }

    private static Payload copy(EventTailer tailer, Map<String, String> headers) {
        ByteBuffer bytes = ByteBuffer.allocate(tailer.payload().remaining());
        bytes.put(tailer.payload().duplicate()).flip();
        return new Payload(tailer.contentType(), headers, bytes);
    }

    /** The events made of these letters are durable: the letters are done with. */
    public void redriven(List<Long> numbers) {
        handled.handle(numbers);
        handled.end();
        handledSome();
    }

    /** What was begun was not appended and will not be. */
    public void endRedrive() {
        handled.end();
    }

    /** The letters are gone for ever; how many at a time is bounded. */
    public HandledCount purge(LetterSelection selection) {
        List<Long> numbers = new ArrayList<>();
        AtomicBoolean more = new AtomicBoolean();
        read(selection, 0, (letter, tailer) -> {
            more.set(numbers.size() == MOST_PURGED);
            return !more.get() && numbers.add(letter.number());
        });
        if (!numbers.isEmpty()) {
            handled.handle(numbers);
            handledSome();
        }
        return new HandledCount(numbers.size(), 0, 0, 0, more.get());
    }

    /** Segments of which nobody wants anything any more go. */
    private void handledSome() {
        count.set(handled.openLetters(log));
        long floor = handled.floor(log);
        OldSegments segments = log.oldSegments();
        if (segments.firstEnd() > floor) {
            return;
        }
        try {
            handled.handledBelow(floor + 1);
            segments.deleteUpTo(segments.release(floor));
        } catch (StoreException refusal) {
            LOG.warn("handled dead letters stay on disk for now", refusal);
        }
    }

    /**
     * Ends what a kill has cut short: letters whose events came into the log are done with, the others stay.
     *
     * <p>I/O thread, before the log of events is used by anybody else.
     */
    public void resolveRedrive(EventLog events) {
        HandledLetters.Redrive redrive = handled.underWay();
        if (redrive == null) {
            return;
        }
        List<Long> appended = new ArrayList<>();
        events.force();
        try (EventTailer tailer = events.openTailer()) {
            tailer.moveTo(Math.max(redrive.above() + 1, events.firstId()));
            for (EventTailer.Step step = tailer.nextOpened();
                    step != EventTailer.Step.END;
                    step = tailer.nextOpened()) {
                String number = step == EventTailer.Step.EVENT ? tailer.header(RelayHeaders.DEAD_LETTER) : null;
                if (number != null && redrive.numbers().contains(Long.parseLong(number))) {
                    appended.add(Long.parseLong(number));
                }
            }
        }
        if (!appended.isEmpty()) {
            handled.handle(appended);
        }
        handled.end();
        count.set(handled.openLetters(log));
    }

    private static DeadLetter letter(EventTailer tailer) {
        Map<String, String> headers = tailer.headers();
        return new DeadLetter(
                tailer.id(),
                longHeader(headers, RelayHeaders.EVENT_ID),
                headers.getOrDefault(RelayHeaders.REASON, ""),
                (int) longHeader(headers, RelayHeaders.FAILED_DELIVERIES),
                headers.getOrDefault(RelayHeaders.LAST_ERROR, ""),
                tailer.appendedAtMillis(),
                tailer.payload().remaining(),
                headers.getOrDefault(RelayHeaders.SUBSCRIPTION, BindOptions.DEFAULT_SUBSCRIPTION));
    }

    private static long longHeader(Map<String, String> headers, String name) {
        return Long.parseLong(headers.getOrDefault(name, "0"));
    }
}
