package io.tabletrelay.core.server;

/** The protocol's own close codes; those of RFC 6455 are the library's. */
final class CloseCodes {
    /** The pipe has a live consumer. */
    static final int PIPE_BUSY = 4000;

    /** Unsent bytes over the limit for too long. */
    static final int SLOW_CONSUMER = 4008;

    /** Another connection holds the pipe now. */
    static final int TAKEN_OVER = 4409;

    private CloseCodes() {}
}
