package io.tabletrelay.core.delivery;

import java.time.Instant;

/**
 * What a connection asks for when it binds a pipe.
 *
 * <p>Threading: immutable.
 *
 * @param dialect decides the ack timeout
 * @param subscription whose acks count
 * @param start where the subscription begins if there is none of that name yet
 * @param windowEvents most events in flight, 1 to {@link #MOST_WINDOW_EVENTS}; 0: as many as the pipe says
 * @param windowBytes most payload bytes in flight; one event always fits
 * @param batchEvents most events in one frame
 * @param strict nothing later is sent while an earlier event waits for redelivery
 * @param mode what happens when the subscription has a holder
 * @param headers events come with their headers
 * @param confirmAcks acks are answered once they are durable
 */
public record BindOptions(
        Dialect dialect,
        String subscription,
        Start start,
        int windowEvents,
        long windowBytes,
        int batchEvents,
        boolean strict,
        Mode mode,
        boolean headers,
        boolean confirmAcks) {
    public static final String DEFAULT_SUBSCRIPTION = "default";
    public static final int MOST_WINDOW_EVENTS = 65_536;

    /** All that a consumer of dialect 1 can ask for. */
    public static final BindOptions DIALECT_1 = new BindOptions(
            Dialect.ONE,
            DEFAULT_SUBSCRIPTION,
            new Start.Earliest(),
            0,
            Long.MAX_VALUE,
            1,
            false,
            Mode.EXCLUSIVE,
            false,
            false);

    /** How lines and frames are spoken. */
    public enum Dialect {
        ONE,
        TWO
    }

    /** What happens when the subscription has a holder already. */
    public enum Mode {
        /** The holder must show that it lives: then the newcomer is refused. */
        EXCLUSIVE,
        /** The newcomer wins. */
        TAKEOVER,
        /** The newcomer waits until the holder goes. */
        STANDBY,
        /** All who asked for this mode are served, each event by one of them. */
        SHARED
    }

    /** Where a new subscription begins. */
    public sealed interface Start {
        /** With the oldest event that is kept. */
        record Earliest() implements Start {}

        /** Behind the newest event. */
        record Latest() implements Start {}

        /** With this event, or the first one above. */
        record AtId(long id) implements Start {}

        /** With the first event that was appended at that time or later. */
        record AtTime(Instant time) implements Start {}
    }
}
