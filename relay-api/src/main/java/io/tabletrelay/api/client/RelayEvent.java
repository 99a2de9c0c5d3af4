package io.tabletrelay.api.client;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One event as the relay delivered it. Epoch and id name it for ever: the same pair is the same event.
 *
 * <p>Threading: thread-safe; the first of {@link #ack}, {@link #nack} and {@link #term} counts.
 */
public final class RelayEvent {
    private final long epoch;
    private final long id;
    private final long appendedAtMillis;
    private final int delivery;
    private final Map<String, String> headers;
    private final ByteBuffer payload;
    private final Answers answers;
    private final AtomicBoolean answered = new AtomicBoolean();

    /** Which connection delivered it last; touched only on the client's loop. */
    int connection;

    /** How often the loop has found it unanswered; touched only there. */
    int timesHeld;

    /** Queued, or in the hands of the handler right now. */
    volatile boolean atWork = true;

    RelayEvent(
            long epoch,
            long id,
            long appendedAtMillis,
            int delivery,
            Map<String, String> headers,
            ByteBuffer payload,
            Answers answers) {
        this.epoch = epoch;
        this.id = id;
        this.appendedAtMillis = appendedAtMillis;
        this.delivery = delivery;
        this.headers = headers;
        this.payload = payload;
        this.answers = answers;
    }

    /** Where answers go; thread-safe. */
    interface Answers {
        void answered(RelayEvent event, Answer answer);
    }

    /** What became of an event. */
    sealed interface Answer {
        record Ack() implements Answer {}

        record Nack(long delayMillis, String reason) implements Answer {}

        record Term(String reason) implements Answer {}

        record Hold() implements Answer {}
    }

    /** Tells the pipe from an earlier one of the same name. */
    public long epoch() {
        return epoch;
    }

    /** The event's number in its pipe. */
    public long id() {
        return id;
    }

    public Instant appendedAt() {
        return Instant.ofEpochMilli(appendedAtMillis);
    }

    /** 1: the first delivery. */
    public int delivery() {
        return delivery;
    }

    /** Empty unless the consumer asked for headers. */
    public Map<String, String> headers() {
        return headers;
    }

    /** A read-only view of its own. It keeps the frame that it came in, at most 256 KiB or one event, from the collector. */
    public ByteBuffer payload() {
        return payload.asReadOnlyBuffer();
    }

    /** A copy of the payload. */
    public byte[] bytes() {
        byte[] bytes = new byte[payload.remaining()];
        payload.duplicate().get(bytes);
        return bytes;
    }

    /** Done with: it does not come again. Returns false if it was answered before. */
    public boolean ack() {
        return answer(new Answer.Ack());
    }

    /** Not done: it comes again after the delay. Returns false if it was answered before. */
    public boolean nack(Duration delay, String reason) {
        if (delay.isNegative()) {
            throw new IllegalArgumentException("a delay must not be negative: delay=" + delay);
        }
        return answer(new Answer.Nack(delay.toMillis(), reason));
    }

    /** Never again: to the dead letters. Returns false if it was answered before. */
    public boolean term(String reason) {
        return answer(new Answer.Term(reason));
    }

    /** Still at work: its ack deadline starts again. */
    public void hold() {
        if (!answered.get()) {
            answers.answered(this, new Answer.Hold());
        }
    }

    private boolean answer(Answer answer) {
        boolean first = tryAnswer();
        if (first) {
            answers.answered(this, answer);
        }
        return first;
    }

    /** Returns true if the caller is to tell the answer. */
    boolean tryAnswer() {
        return answered.compareAndSet(false, true);
    }

    boolean isAnswered() {
        return answered.get();
    }

    @Override
    public String toString() {
        return "event " + id + " of epoch " + epoch + ", delivery " + delivery + ", " + payload.remaining() + " bytes";
    }
}
