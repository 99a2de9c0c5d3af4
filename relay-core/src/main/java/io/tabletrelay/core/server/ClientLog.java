package io.tabletrelay.core.server;

import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Log lines that clients can cause, each as often as it likes: only so many are written in a span of time, and how many
 * were left out stands before the next one. Faults of the relay have a share of their own, which no client's nonsense
 * uses up.
 *
 * <p>Threading: thread-safe by the monitors of its shares.
 */
final class ClientLog {
    static final int LINES_PER_SPAN = 20;

    private static final Logger LOG = LoggerFactory.getLogger(ClientLog.class);
    private static final long SPAN_NANOS = 10_000_000_000L;

    private final Share clients;
    private final Share faults;

    ClientLog(LongSupplier nanoTime) {
        clients = new Share(nanoTime);
        faults = new Share(nanoTime);
    }

    /** What a client did, or did not do. */
    void line(Level level, String format, Object... arguments) {
        long missing = clients.take();
        if (missing > 0) {
            LOG.warn("lines about clients were left out, there were too many: lines={}", missing);
        }
        if (missing >= 0) {
            LOG.atLevel(level).log(format, arguments);
        }
    }

    /** What the relay did wrong: an error. */
    void fault(String format, Object... arguments) {
        long missing = faults.take();
        if (missing > 0) {
            LOG.error("faults of the relay were left out, there were too many: lines={}", missing);
        }
        if (missing >= 0) {
            LOG.error(format, arguments);
        }
    }

    /**
     * How many lines of one kind may still be written.
     *
     * <p>Threading: thread-safe by its monitor.
     */
    private static final class Share {
        private final LongSupplier nanoTime;
        private long spanNanos;
        private int lines;
        private long leftOut;

        Share(LongSupplier nanoTime) {
            this.nanoTime = nanoTime;
            spanNanos = nanoTime.getAsLong();
        }

        /** Returns how many lines were left out before this one, or -1 if it must be left out too. */
        synchronized long take() {
            long now = nanoTime.getAsLong();
            if (now - spanNanos >= SPAN_NANOS) {
                spanNanos = now;
                lines = 0;
            }
            if (lines == LINES_PER_SPAN) {
                leftOut++;
                return -1;
            }
            lines++;
            long missing = leftOut;
            leftOut = 0;
            return missing;
        }
    }
}
