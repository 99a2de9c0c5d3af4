package io.tabletrelay.core.pipe;

/**
 * A connection's line to the pipe it asked for.
 *
 * <p>Threading: thread-safe, and each call returns at once. Calls after {@link #gone} are normal: a late ack counts.
 */
public interface ConsumerLink {
    /** The consumer is done with this event. Counts if the link was ever bound and the event was delivered; else it is dropped and counted. */
    void ack(long id);

    /** The consumer could not use this event. Counts only while this link's connection holds it. */
    void nack(long id);

    /** A frame of any kind was read, or the probe's own pong ({@code probePong}). */
    void life(boolean probePong);

    /** Unsent bytes fell below the limit again. */
    void writable();

    /** The connection is closed. Repeats are ignored. */
    void gone();
}
