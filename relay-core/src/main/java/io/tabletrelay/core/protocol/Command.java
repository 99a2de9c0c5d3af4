package io.tabletrelay.core.protocol;

import io.tabletrelay.api.PipeName;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What a client of dialect 2 can say.
 *
 * <p>Threading: immutable, but for what {@link Acks} says.
 */
public sealed interface Command {
    /**
     * The connection wants this pipe's events.
     *
     * @param windowEvents most events in flight
     * @param windowBytes most payload bytes in flight
     * @param batchEvents most events in one frame
     * @param headers records come with headers
     * @param confirmAcks acks are answered once they are durable
     */
    record Bind(
            PipeName pipe,
            String subscription,
            From from,
            int windowEvents,
            long windowBytes,
            int batchEvents,
            boolean strict,
            Mode mode,
            boolean headers,
            boolean confirmAcks)
            implements Command {}

    /** Where a subscription begins that does not exist yet. */
    sealed interface From {
        record Earliest() implements From {}

        record Latest() implements From {}

        record Id(long id) implements From {}

        record Time(Instant time) implements From {}
    }

    /** What becomes of a holder of the subscription. */
    enum Mode {
        EXCLUSIVE,
        TAKEOVER,
        STANDBY,
        SHARED
    }

    /**
     * The connection wants to publish to this pipe.
     *
     * @param producer null: its sequences are this connection's own
     * @param type the source type; null if it was not said
     * @param headers each frame has a header block
     */
    record Publish(
            PipeName pipe,
            @Nullable String producer,
            @Nullable String type,
            boolean headers) implements Command {}

    /** Done with these; they are there only until the next line is read. */
    record Acks(IdRanges ids) implements Command {}

    /** Done with everything up to this id that was sent on this connection. */
    record AckUpTo(long id) implements Command {}

    /**
     * Not done with this event.
     *
     * @param delayMillis how long it waits; -1: as long as the backoff is
     * @param reason empty if there is none
     */
    record Nack(long id, long delayMillis, String reason) implements Command {}

    /** Never again this event. */
    record Term(long id, String reason) implements Command {}

    /** Still working on this event. */
    record Hold(long id) implements Command {}

    /** Most events in flight from now on; 0 pauses. */
    record Window(int events) implements Command {}

    /** No more events. */
    record Unbind() implements Command {}

    /** No more events will be published to the pipe, by anybody. */
    record Finish() implements Command {}

    /** A token. */
    record Auth(String token) implements Command {}
}
