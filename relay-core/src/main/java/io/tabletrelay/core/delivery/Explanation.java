package io.tabletrelay.core.delivery;

import io.tabletrelay.core.delivery.EventPlace.Obstacle;
import org.jspecify.annotations.Nullable;

/**
 * Says in words where an event is and why.
 *
 * <p>Threading: immutable.
 *
 * @param pipeState why nothing is sent while the pipe is paused or closed
 * @param dropped events that the pipe dropped to make room, since the relay was started
 */
public record Explanation(String pipeState, long dropped) {
    private static final long SECOND = 1_000;

    /**
     * For one subscription.
     *
     * @param letter the newest dead letter that this subscription made of the event; null: none
     * @param handled true if that was redriven or purged
     */
    public String of(String subscription, EventPlace place, @Nullable DeadLetter letter, boolean handled) {
        return "for subscription " + subscription + " it is " + sentence(place, letter, handled);
    }

    private String sentence(EventPlace place, @Nullable DeadLetter letter, boolean handled) {
        if (place instanceof EventPlace.Unknown unknown) {
            return "unknown: no event has this id, the last one given is " + unknown.lastId();
        }
        if (place instanceof EventPlace.NoEvent) {
            return "void: no event has this id or ever will; its append was cut short, refused by the disk or lost in a"
                    + " power cut, or an earlier pipe of this name had the id";
        }
        if (place instanceof EventPlace.BelowStart below) {
            return "settled from the beginning: the subscription started behind it, with event " + below.start();
        }
        if (place instanceof EventPlace.NotKept gone) {
            return settled(letter, handled) + "; it is not kept any more, the oldest event that is there is "
                    + gone.firstId();
        }
        if (place instanceof EventPlace.Settled settled) {
            return settled.onlyFor().isEmpty() ? settled(letter, handled) : "settled: " + anothers(settled.onlyFor());
        }
        if (place instanceof EventPlace.InFlight flight) {
            return inFlight(flight);
        }
        if (place instanceof EventPlace.Waiting waiting) {
            return waiting(waiting);
        }
        if (place instanceof EventPlace.GivenUp given) {
            return "being given up" + after(given.failures(), given.lastReason()) + ": its dead letter is being written"
                    + (given.trouble().isEmpty() ? "" : ", but " + given.trouble());
        }
        EventPlace.Undelivered undelivered = (EventPlace.Undelivered) place;
        if (!undelivered.onlyFor().isEmpty()) {
            return "not reached yet, and will be passed: " + anothers(undelivered.onlyFor());
        }
        return "undelivered"
                + (undelivered.ahead() == 0 ? "" : ", with up to " + undelivered.ahead() + " events before it") + ": "
                + why(undelivered.obstacle(), "it goes in its turn");
    }

    private static String anothers(String subscription) {
        return "it was redriven for subscription " + subscription + " alone";
    }

    private String settled(@Nullable DeadLetter letter, boolean handled) {
        if (letter != null) {
            return "settled as dead letter " + letter.number() + " (" + letter.reason() + " after "
                    + letter.failedDeliveries() + " failed deliveries, last error: " + letter.lastError() + ")"
                    + (handled ? ", which was redriven or purged" : ", which can be redriven (relay dlq redrive)");
        }
        return "settled by its consumer; when is not kept"
                + (dropped == 0
                        ? ""
                        : ". Or it was dropped to make room, as " + dropped + " events were since the start");
    }

    private static String inFlight(EventPlace.InFlight flight) {
        String where = "in flight to " + flight.consumer() + ", delivery " + (flight.failures() + 1);
        if (flight.sinceMillis() < 0) {
            return where + ": its bytes have not reached the socket yet, and its ack deadline has not begun";
        }
        return where + ": sent, or held, " + time(flight.sinceMillis()) + " ago and not answered; "
                + (flight.deadlineInMillis() < 0
                        ? "it has no ack deadline"
                        : "its ack deadline ends in " + time(flight.deadlineInMillis()));
    }

    private String waiting(EventPlace.Waiting waiting) {
        String text = "waiting to be delivered again" + after(waiting.failures(), waiting.lastReason());
        return waiting.dueInMillis() > 0
                ? text + ": not before " + time(waiting.dueInMillis()) + " from now"
                : text + ": it is due, and " + why(waiting.obstacle(), "goes in its turn");
    }

    private static String after(int failures, String lastReason) {
        if (failures == 0) {
            return " since its consumer went or the relay was started anew";
        }
        return " after failed delivery " + failures + " (" + lastReason + ")";
    }

    private String why(Obstacle obstacle, String nothing) {
        return switch (obstacle.kind()) { // no default: the compiler finds the forgotten one
            case NONE -> nothing;
            case STOPPING -> "the relay is stopping and sends nothing any more";
            case PAUSED -> "nothing is sent while the pipe is " + pipeState;
            case NO_CONSUMER -> "no consumer is bound";
            case RING_CANNOT_GROW -> obstacle.trouble();
            case NOT_READING -> obstacle.consumer() + " does not read: its send buffer is full";
            case STRICT_ORDER ->
                obstacle.consumer() + " wants strict order, and event " + obstacle.number() + " must be settled first";
            case WINDOW_PAUSED -> obstacle.consumer() + " wants none now: its window is 0";
            case WINDOW_FULL ->
                "the window of " + obstacle.consumer() + " is full (" + obstacle.number() + " of " + obstacle.limit()
                        + " events are not answered)";
            case BYTES_FULL ->
                "the window of " + obstacle.consumer() + " has no room for it (" + obstacle.number() + " of "
                        + obstacle.limit() + " bytes are not answered)";
            case ONE_AT_A_TIME ->
                "connections were lost again and again, so events go one at a time until one is settled";
            case QUOTA -> "the relay has as much on its way to all consumers as it may, and this one has its share";
        };
    }

    private static String time(long millis) {
        return millis < 10 * SECOND ? millis + " ms" : millis / SECOND + " s";
    }
}
