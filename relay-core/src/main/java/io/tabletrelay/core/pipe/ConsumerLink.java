package io.tabletrelay.core.pipe;

/**
 * A connection's line to the subscription it asked for.
 *
 * <p>What an ack says counts if the link was ever bound and the event was delivered; else it is dropped and counted. The other
 * answers count only while this link's connection holds the event.
 *
 * <p>Threading: thread-safe, and each call returns at once. Calls after {@link #gone} are normal: a late ack counts.
 */
public interface ConsumerLink {
    /** A delay that says: as long as the backoff is. */
    long BACKOFF = -1;

    /** The consumer is done with the events from the first to the last id. */
    void ack(long firstId, long lastId);

    /** The consumer is done with every event up to this id that was sent on this connection. */
    void ackUpTo(long id);

    /**
     * The consumer could not use this event.
     *
     * @param delayMillis how long it waits before it goes again, or {@link #BACKOFF}
     * @param reason empty if none was given
     */
    void nack(long id, long delayMillis, String reason);

    /** The event is given up at once. */
    void term(long id, String reason);

    /** The consumer still works on this event: its ack deadline starts again. */
    void hold(long id);

    /** Most events in flight from now on; 0 pauses. */
    void window(int events);

    /** The consumer wants no more events; what it has in flight goes back. It is told {@code unbound}. */
    void unbind();

    /** A frame of any kind was read, or the probe's own pong ({@code probePong}). */
    void life(boolean probePong);

    /** So many of the bytes that the connection was given have reached the socket. */
    void written(long bytesSoFar);

    /** Unsent bytes fell below the limit again. */
    void writable();

    /** The connection is closed. Repeats are ignored. */
    void gone();
}
