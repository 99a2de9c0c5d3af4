package io.tabletrelay.core.client;

import java.io.IOException;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Repeats what failed for now: refusals that may pass, and a relay that cannot be reached. Waits longer each time, up to
 * two seconds.
 *
 * <p>Threading: immutable; each call waits on the caller's thread.
 */
public final class Retry {
    private static final long FIRST_WAIT_MILLIS = 50;
    private static final long LONGEST_WAIT_MILLIS = 2_000;

    private final Duration atMost;
    private final LongSupplier nanoTime;
    private final Wait wait;
    private final Consumer<String> notice;

    /**
     * Creates a policy for any number of calls.
     *
     * @param atMost how long one call may be repeated
     * @param notice told the reason once per call that has to be repeated
     */
    public Retry(Duration atMost, Consumer<String> notice) {
        this(atMost, System::nanoTime, Thread::sleep, notice);
    }

    Retry(Duration atMost, LongSupplier nanoTime, Wait wait, Consumer<String> notice) {
        this.atMost = atMost;
        this.nanoTime = nanoTime;
        this.wait = wait;
        this.notice = notice;
    }

    /** Returns the first result, or throws what cannot be helped by repeating, or the last failure when time is up. */
    public <T> T call(Attempt<T> attempt) throws IOException, InterruptedException {
        long startNanos = nanoTime.getAsLong();
        long waitMillis = FIRST_WAIT_MILLIS;
        for (int attempts = 1; ; attempts++) {
            String reason;
            try {
                return attempt.run();
            } catch (RefusedException refused) {
                if (!refused.retryable() || isOver(startNanos)) {
                    throw refused;
                }
                reason = refused.reason();
            } catch (IOException unreachable) {
                if (isOver(startNanos)) {
                    throw unreachable;
                }
                reason = String.valueOf(unreachable.getMessage());
            }
            if (attempts == 1) {
                notice.accept(reason);
            }
            wait.millis(waitMillis);
            waitMillis = Math.min(waitMillis * 2, LONGEST_WAIT_MILLIS);
        }
    }

    private boolean isOver(long startNanos) {
        return nanoTime.getAsLong() - startNanos >= atMost.toNanos();
    }

    /** One try. */
    @FunctionalInterface
    public interface Attempt<T> {
        T run() throws IOException, InterruptedException;
    }

    /** How to wait. */
    @FunctionalInterface
    interface Wait {
        void millis(long millis) throws InterruptedException;
    }
}
