package io.tabletrelay.core.delivery;

import io.tabletrelay.api.RelayException;
import java.nio.ByteBuffer;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The one upward call: a consumer's connection, as the pipe that serves it sees it.
 *
 * <p>Nothing here waits or throws: what a closed connection is given is dropped, and the pipe learns of the close by
 * {@code ConsumerLink.gone()}.
 *
 * <p>Threading: called by the pipe's transfer thread; the two counters may be read by any thread.
 */
public interface DeliverySink {
    /** Who that is, for people. */
    default String peer() {
        return "unknown peer";
    }

    /**
     * The consumer holds the subscription now: tell it READY, before any event.
     *
     * @param answer what READY says; null for dialect 1, which says nothing and may be bound while the pipe is not open
     */
    void bound(@Nullable Bound answer);

    /**
     * The consumer is not bound: tell it ERROR, and close with what the code means.
     *
     * @param why PIPE_BUSY: there is a live consumer already
     */
    void refused(RelayException why);

    /** Ask for a sign of life: a ping with a payload of its own. */
    void probe();

    /** Another connection holds the subscription now: close with 4409. */
    void takenOver();

    /** What the consumer had is given back, and nothing is sent any more: tell it UNBOUND. */
    void unbound();

    /** The producer finished the pipe and everything is settled: tell it END. */
    void ended();

    /** These events, from each first to its last id, are settled as durably as the pipe settles; said only to who asked for it. */
    void acked(long[] firstIds, long[] lastIds);

    /** False while so much is unsent that nothing may be added; {@code ConsumerLink.writable()} says when it changes. */
    boolean writable();

    /**
     * Takes one event; its bytes are copied before this returns and may leave at once or at the next {@link #flush}.
     *
     * @param appendedAtMillis ms since the epoch
     * @param delivery 1: the first
     * @param payload read from position to limit, which stay as they are
     * @param headers empty unless the consumer asked for them
     * @return how many bytes the connection will have been given up to the end of this event; see {@link #writtenBytes}
     */
    long deliver(long id, long appendedAtMillis, int delivery, ByteBuffer payload, Map<String, String> headers);

    /** The turn is over: what was delivered leaves now. */
    void flush();

    /** How many of the given bytes have reached the socket. */
    long writtenBytes();

    /** When {@link #writtenBytes} last grew, in {@code System.nanoTime()} terms. */
    long lastWriteNanos();
}
