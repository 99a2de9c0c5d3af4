package io.tabletrelay.core.server;

/**
 * What one connection's lines and frames mean: its dialect.
 *
 * <p>Threading: lines, frames and pongs come from one worker thread, the rest from any.
 */
interface Session {
    /** What it is about, in words for the log. */
    String pipe();

    void line(String text);

    /** The array is the session's to keep. */
    void binary(byte[] frame);

    void pong(byte[] payload);

    /** A frame was read: a sign of life. */
    void sign();

    /** So many of the bytes that the connection was given have reached the socket. */
    void written(long bytesSoFar);

    /** Unsent bytes are below the limit again. */
    void roomAgain();

    /** It did not take its bytes: should it come back again and again, it must wait. */
    void cutAsSlow();

    /** Nothing gets out any more. */
    void closed();
}
