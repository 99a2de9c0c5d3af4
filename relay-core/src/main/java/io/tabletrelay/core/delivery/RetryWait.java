package io.tabletrelay.core.delivery;

/**
 * How long something that failed waits before it is tried again: 1 s, then 2 s, up to 60 s, until it went well.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 */
public final class RetryWait {
    private static final long FIRST_NANOS = 1_000_000_000L;
    private static final long LONGEST_NANOS = 60_000_000_000L;

    private long nextNanos = FIRST_NANOS;
    private long atNanos;

    /** It failed now. Returns how long is waited. */
    public long failed(long nowNanos) {
        long waitNanos = nextNanos;
        atNanos = nowNanos + waitNanos;
        nextNanos = Math.min(2 * waitNanos, LONGEST_NANOS);
        return waitNanos;
    }

    public void wentWell() {
        nextNanos = FIRST_NANOS;
    }

    /** When it is tried again, after a failure. */
    public long atNanos() {
        return atNanos;
    }

    /** After a failure: it may be tried again. */
    public boolean isOver(long nowNanos) {
        return nowNanos - atNanos >= 0;
    }
}
