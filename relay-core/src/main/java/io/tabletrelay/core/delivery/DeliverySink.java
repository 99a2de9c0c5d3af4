package io.tabletrelay.core.delivery;

import java.nio.ByteBuffer;

/**
 * The one upward call: a consumer's connection, as the pipe that serves it sees it.
 *
 * <p>Nothing here waits or throws: what a closed connection is given is dropped, and the pipe learns of the close by
 * {@code ConsumerLink.gone()}.
 *
 * <p>Threading: called by the pipe's transfer thread; the two counters may be read by any thread.
 */
public interface DeliverySink {
    /** The consumer holds the pipe now: tell it READY, before any event. */
    void bound();

    /** The pipe has a live consumer already: tell it ERROR and close with 4000. */
    void refused();

    /** Ask for a sign of life: a ping with a payload of its own. */
    void probe();

    /** Another connection holds the pipe now: close with 4409. */
    void takenOver();

    /** False while so much is unsent that nothing may be added; {@code ConsumerLink.writable()} says when it changes. */
    boolean writable();

    /**
     * Takes one event; its bytes are copied before this returns and may leave at once or at the next {@link #flush}.
     *
     * @param payload read from position to limit, which stay as they are
     * @return how many bytes the connection will have been given up to the end of this event; see {@link #writtenBytes}
     */
    long deliver(long id, ByteBuffer payload);

    /** The turn is over: what was delivered leaves now. */
    void flush();

    /** How many of the given bytes have reached the socket. */
    long writtenBytes();

    /** When {@link #writtenBytes} last grew, in {@code System.nanoTime()} terms. */
    long lastWriteNanos();
}
