package io.tabletrelay.core.delivery;

import java.util.Arrays;
import java.util.TreeSet;

/**
 * What one consumer holds: the events in flight to it, within its limits of events and bytes.
 *
 * <p>A copy that timed out stays in the buffer of a client that cannot refuse it (dialect 1): it keeps its slot of the window,
 * and goes again in it.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 */
final class HeldEvents {
    static final long NOT_WRITTEN = Long.MIN_VALUE;

    private final InFlightWindow window = new InFlightWindow();
    private final TreeSet<Long> timedOut = new TreeSet<>();
    private final boolean timedOutKeepSlots;
    private final long windowBytes;
    private final long ackTimeoutNanos;
    private int windowEvents;
    /** Of an event that did not fit beside the others; 0: none. */
    private long wantedBytes;

    HeldEvents(int windowEvents, long windowBytes, long ackTimeoutNanos, boolean timedOutKeepSlots) {
        this.windowEvents = windowEvents;
        this.windowBytes = windowBytes;
        this.ackTimeoutNanos = ackTimeoutNanos;
        this.timedOutKeepSlots = timedOutKeepSlots;
    }

    int windowEvents() {
        return windowEvents;
    }

    void windowEvents(int most) {
        windowEvents = most;
    }

    /** How many events more it may have, if the window is at most that large. */
    int credit(int most) {
        boolean bytesLeft = window.size() == 0 || window.bytes() + wantedBytes <= windowBytes;
        return bytesLeft ? Math.min(windowEvents, most) - window.size() - timedOut.size() : 0;
    }

    /** False: an event of that size must wait until there is more room; one event always fits. */
    boolean fits(int eventBytes) {
        boolean fits = window.size() == 0 || window.bytes() + eventBytes <= windowBytes;
        wantedBytes = fits ? 0 : eventBytes;
        return fits;
    }

    /** The event that did not fit may have gone to another consumer. */
    void lookAgain() {
        wantedBytes = 0;
    }

    /** The event's first byte is about to leave. */
    void sending(long id, int eventBytes, long nowNanos) {
        window.add(id, eventBytes, nowNanos);
    }

    /** It ends there in the connection's stream of bytes. */
    void sent(long endOffset) {
        window.lastEndsAt(endOffset);
    }

    /** When the deadline of an event in flight began; {@link #NOT_WRITTEN}: it has not, as the connection says. */
    long sinceNanos(long id, DeliverySink sink) {
        window.written(sink.writtenBytes(), sink.lastWriteNanos());
        return window.sinceNanos(id, NOT_WRITTEN);
    }

    /** 0: there is no deadline. */
    long ackTimeoutNanos() {
        return ackTimeoutNanos;
    }

    /** Slots of the window that are not free. */
    int taken() {
        return window.size() + timedOut.size();
    }

    /** Payload bytes in flight. */
    long bytes() {
        return window.bytes();
    }

    int inFlight() {
        return window.size();
    }

    boolean isInFlight(long id) {
        return window.contains(id);
    }

    /** True: it is in flight no more. */
    boolean remove(long id) {
        return window.remove(id);
    }

    boolean removeTimedOut(long id) {
        return timedOut.remove(id);
    }

    void removeUpTo(long id) {
        window.removeUpTo(id);
        timedOut.headSet(id, true).clear();
    }

    /** Its deadline starts anew, if its bytes have left by now as the connection says. */
    boolean hold(long id, DeliverySink sink, long nowNanos) {
        window.written(sink.writtenBytes(), sink.lastWriteNanos());
        return window.restart(id, nowNanos);
    }

    /** A timed-out copy that may go again in its slot; 0: none. */
    long firstTimedOut() {
        return timedOut.isEmpty() ? 0 : timedOut.first();
    }

    /** The ids up to this one that the consumer has, copies that timed out included. */
    long[] idsUpTo(long id) {
        long[] inFlight = window.idsUpTo(id);
        if (timedOut.isEmpty()) {
            return inFlight;
        }
        long[] all = Arrays.copyOf(
                inFlight, inFlight.length + timedOut.headSet(id, true).size());
        int n = inFlight.length;
        for (long each : timedOut.headSet(id, true)) {
            all[n++] = each;
        }
        return all;
    }

    /** Takes an event out whose deadline has passed, as the connection says how far its bytes got; 0: there is none. */
    long nextExpired(DeliverySink sink, long nowNanos) {
        if (window.size() == 0) {
            return 0;
        }
        window.written(sink.writtenBytes(), sink.lastWriteNanos());
        long id = ackTimeoutNanos == 0 ? 0 : window.expired(nowNanos, ackTimeoutNanos);
        if (id != 0) {
            window.remove(id);
            if (timedOutKeepSlots) {
                timedOut.add(id);
            }
        }
        return id;
    }

    long nextDeadlineNanos(long nowNanos, long otherwise) {
        return ackTimeoutNanos > 0 && window.size() > 0
                ? window.nextDeadlineNanos(nowNanos, ackTimeoutNanos)
                : otherwise;
    }

    boolean isEmpty() {
        return window.size() == 0 && timedOut.isEmpty();
    }

    /** Takes back everything; returns the ids that were in flight, in ascending order. */
    long[] clear() {
        timedOut.clear();
        wantedBytes = 0;
        return window.clear();
    }
}
