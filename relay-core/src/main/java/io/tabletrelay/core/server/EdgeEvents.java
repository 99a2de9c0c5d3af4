package io.tabletrelay.core.server;

/**
 * What happens at the edge, for whoever counts it.
 *
 * <p>Threading: called by any thread; must not wait or throw.
 */
public interface EdgeEvents {
    /** Counts nothing. */
    EdgeEvents NONE = new EdgeEvents() {};

    /** A handshake was done. */
    default void connected() {}

    /** A connection of which {@link #connected} was told has ended. */
    default void disconnected() {}

    /** A socket was closed because too many are open. */
    default void connectionRefused() {}

    /** A request was answered with an HTTP status other than 101. */
    default void handshakeRefused() {}

    /** A line or binary frame that says nothing the connection's dialect knows at that moment: it changed nothing. */
    default void malformedLine() {}

    /** A BIND that no pipe could be had for; in dialect 2 any BIND or PUBLISH that came to nothing. */
    default void bindFailed() {}

    /** An ACK or ERROR of a connection that holds no pipe, and too early or too late to wait for one. */
    default void earlyAnswerDropped() {}

    /** A consumer was cut off because it did not take its bytes; also one that fell silent while some waited for it. */
    default void slowConsumerCut() {}

    /** A peer was cut off because nothing came from it, while nothing waited for it: else it is a slow consumer. */
    default void silentPeerCut() {}
}
