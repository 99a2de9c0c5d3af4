package io.tabletrelay.core.server;

/**
 * How often one connection was refused what it asked for.
 *
 * <p>Threading: thread-safe by its monitor.
 */
final class RefusedBinds {
    static final int MOST = 10;
    static final int SPAN_SECONDS = 10;

    private static final long SPAN_NANOS = SPAN_SECONDS * 1_000_000_000L;

    /** When the last of them were, as a ring. */
    private final long[] nanos = new long[MOST];

    private int count;

    /** True if this one is the last straw. */
    synchronized boolean add(long nowNanos) {
        nanos[count++ % MOST] = nowNanos;
        return count >= MOST && nowNanos - nanos[count % MOST] <= SPAN_NANOS;
    }
}
