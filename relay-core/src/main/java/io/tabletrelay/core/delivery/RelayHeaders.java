package io.tabletrelay.core.delivery;

import io.tabletrelay.core.store.EventTailer;
import java.util.Set;

/** Headers that the relay gives by itself; nobody else may. */
public final class RelayHeaders {
    /** What the names of all of them begin with. */
    public static final String PREFIX = "relay-";

    /** Of a dead letter: the event that was given up. */
    static final String EVENT_ID = "relay-event-id";

    static final String REASON = "relay-reason";
    static final String FAILED_DELIVERIES = "relay-failed-deliveries";
    static final String LAST_ERROR = "relay-last-error";
    /** Of a dead letter: for which it was given up; of a redriven event: the only one that gets it. */
    static final String SUBSCRIPTION = "relay-subscription";
    /** Of a redriven event: the id of the one that was given up. */
    static final String REDRIVEN_FROM = "relay-redriven-from";
    /** Of a redriven event: the number of its dead letter. */
    static final String DEAD_LETTER = "relay-dead-letter";

    /** Those that a dead letter has besides its event's. */
    static final Set<String> OF_LETTERS = Set.of(EVENT_ID, REASON, FAILED_DELIVERIES, LAST_ERROR, SUBSCRIPTION);

    private RelayHeaders() {}

    /** True: the event on which the tailer stands was redriven for another subscription than this. */
    static boolean isForAnother(EventTailer at, String subscription) {
        return at.header(REDRIVEN_FROM) != null && !subscription.equals(at.header(SUBSCRIPTION));
    }

    public static boolean isReserved(String name) {
        return name.regionMatches(true, 0, PREFIX, 0, PREFIX.length());
    }
}
