package io.tabletrelay.core.server;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.protocol.ServerLines;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The events of a producer's connection that it was told nothing about yet, in the order in which they came.
 *
 * <p>Threading: guarded by the lock of who uses it.
 */
final class Unanswered {
    /**
     * One event.
     *
     * <p>Threading: guarded as the events are.
     */
    static final class Event {
        private final long sequence;
        private final int bytes;
        private boolean answered;
        private @Nullable RelayException refusal;

        private Event(long sequence, int bytes) {
            this.sequence = sequence;
            this.bytes = bytes;
        }

        /** Null: it is stored. */
        void answer(@Nullable RelayException why) {
            answered = true;
            refusal = why;
        }
    }

    private final ArrayDeque<Event> events = new ArrayDeque<>();
    private long unansweredBytes;
    private long blockedAt;

    /** True: the event is not wanted again, and those behind it may be stored. */
    private static boolean isForGood(ErrorCode code) {
        return code == ErrorCode.BAD_EVENT || code == ErrorCode.TOO_LARGE;
    }

    /** True: the event must come again before any other is stored. */
    static boolean isForNow(ErrorCode code) {
        return !isForGood(code) && code != ErrorCode.OUT_OF_SEQUENCE && code != ErrorCode.PIPE_FINISHED;
    }

    /** Null if it is one too many. */
    @Nullable
    Event add(long sequence, int bytes, int mostEvents, long mostBytes) {
        if (events.size() >= mostEvents || (!events.isEmpty() && unansweredBytes + bytes > mostBytes)) {
            return null;
        }
        Event event = new Event(sequence, bytes);
        events.add(event);
        unansweredBytes += bytes;
        return event;
    }

    boolean isEmpty() {
        return events.isEmpty();
    }

    /** The sequence that was refused for now and must come again before any other; 0: none. */
    long blockedAt() {
        return blockedAt;
    }

    /** Takes out all that were answered, up to the first that was not; returns the lines for the producer. */
    List<String> told() {
        List<String> lines = new ArrayList<>();
        long stored = 0;
        for (Event event = events.peek(); event != null && event.answered; event = events.peek()) {
            events.remove();
            unansweredBytes -= event.bytes;
            RelayException refusal = event.refusal;
            if (refusal == null && !isBehindBlocked(event.sequence)) {
                stored = Math.max(stored, event.sequence);
                passed(event.sequence);
                continue;
            }
            if (stored > 0) {
                lines.add(ServerLines.stored(stored));
                stored = 0;
            }
            lines.add(refusal == null ? behindBlocked(event.sequence) : rejected(event.sequence, refusal));
        }
        if (stored > 0) {
            lines.add(ServerLines.stored(stored));
        }
        return lines;
    }

    private String rejected(long sequence, RelayException refusal) {
        if (isForGood(refusal.code())) {
            if (isBehindBlocked(sequence)) {
                return behindBlocked(sequence);
            }
            passed(sequence);
        } else if (blockedAt == 0 && isForNow(refusal.code())) {
            blockedAt = sequence;
        }
        return ServerLines.rejected(sequence, refusal.code(), refusal.reason());
    }

    /** Of those only one that stores nothing can be answered otherwise. */
    private boolean isBehindBlocked(long sequence) {
        return blockedAt != 0 && sequence > blockedAt;
    }

    private String behindBlocked(long sequence) {
        RelayException why =
                EventIntake.outOfSequence("sequence=" + blockedAt + " was refused and must come again first");
        return ServerLines.rejected(sequence, why.code(), why.reason());
    }

    private void passed(long sequence) {
        if (sequence >= blockedAt) {
            blockedAt = 0;
        }
    }
}
