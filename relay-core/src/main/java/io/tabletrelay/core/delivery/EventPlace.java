package io.tabletrelay.core.delivery;

/**
 * Where one event is for one subscription, and what keeps it there; {@link Explanation} says it in words.
 *
 * <p>Threading: immutable.
 */
public sealed interface EventPlace {
    /** No event has this id yet. */
    record Unknown(long lastId) implements EventPlace {}

    /** No event has this id or will. */
    record NoEvent() implements EventPlace {}

    /** The subscription began behind it. */
    record BelowStart(long start) implements EventPlace {}

    /** It was settled, and its segment was deleted. */
    record NotKept(long firstId) implements EventPlace {}

    /**
     * It is settled.
     *
     * @param onlyFor the subscription for which it was redriven; empty: for none
     */
    record Settled(String onlyFor) implements EventPlace {}

    /**
     * It was delivered, and nothing was said of it yet.
     *
     * @param consumer to whom
     * @param failures failed deliveries before this one
     * @param sinceMillis so long ago it left, or was held; -1: its bytes have not reached the socket yet
     * @param deadlineInMillis in so long its ack is overdue; -1: never
     */
    record InFlight(String consumer, int failures, long sinceMillis, long deadlineInMillis) implements EventPlace {}

    /**
     * It is to be delivered again.
     *
     * @param dueInMillis not before that; 0: it is due
     * @param failures failed deliveries so far
     * @param lastReason why the last one failed; empty: its consumer went, or the relay was started anew
     */
    record Waiting(long dueInMillis, int failures, String lastReason, Obstacle obstacle) implements EventPlace {}

    /**
     * Its dead letter is being written.
     *
     * @param trouble why that cannot be done; empty: nothing is known to keep it
     */
    record GivenUp(int failures, String lastReason, String trouble) implements EventPlace {}

    /**
     * It was not delivered yet.
     *
     * @param ahead so many events come before it, at most
     * @param onlyFor the other subscription for which it was redriven: this one will pass it; empty: for none
     */
    record Undelivered(long ahead, String onlyFor, Obstacle obstacle) implements EventPlace {}

    /**
     * What keeps an event from being sent.
     *
     * @param consumer whom it is about; empty: all or none
     * @param number what is in the window, or the id that must go first; else 0
     * @param limit of the window; else 0
     * @param trouble what the relay has said of it; empty otherwise
     */
    record Obstacle(Kind kind, String consumer, long number, long limit, String trouble) {
        static Obstacle of(Kind kind) {
            return new Obstacle(kind, "", 0, 0, "");
        }

        /** What it is. */
        public enum Kind {
            NONE,
            STOPPING,
            PAUSED,
            NO_CONSUMER,
            RING_CANNOT_GROW,
            NOT_READING,
            STRICT_ORDER,
            WINDOW_PAUSED,
            WINDOW_FULL,
            BYTES_FULL,
            ONE_AT_A_TIME,
            QUOTA
        }
    }
}
