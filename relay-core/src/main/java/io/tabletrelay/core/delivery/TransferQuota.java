package io.tabletrelay.core.delivery;

import io.tabletrelay.core.config.TransferQuotaConfig;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Bounds what the consumers of all pipes have together: bytes that are not written yet, and events in flight.
 *
 * <p>A consumer may take more while it has less than what is left. So n consumers that take all they can get have an n + 1st
 * part each, and that much is left for the next one. A consumer with nothing in flight may always take one event; by one event a
 * consumer the limits can be passed.
 *
 * <p>Threading: thread-safe by atomic counts; who waits, by a lock under which no foreign code runs.
 */
public final class TransferQuota {
    private final TransferQuotaConfig config;
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicLong events = new AtomicLong();
    private final Set<Share> waiting = new LinkedHashSet<>();
    /** Its size, to be looked at without the lock. */
    private volatile int waitingCount;

    public TransferQuota(TransferQuotaConfig config) {
        this.config = config;
    }

    /**
     * A share for a consumer that is bound.
     *
     * @param givenBytes what its connection has been given before, see {@link DeliverySink#deliver}
     * @param wake called, on any thread, once after each refusal when there is room
     */
    public Share open(long givenBytes, Runnable wake) {
        return new Share(givenBytes, wake);
    }

    public long unwrittenBytes() {
        return bytes.get();
    }

    public long inFlightEvents() {
        return events.get();
    }

    int waitingCount() {
        return waitingCount;
    }

    private void release(long fewerBytes, long fewerEvents) {
        bytes.addAndGet(-fewerBytes);
        events.addAndGet(-fewerEvents);
        if (waitingCount > 0) {
            takeThoseWithRoom().forEach(share -> share.wake.run());
        }
    }

    private synchronized List<Share> takeThoseWithRoom() {
        List<Share> found = new ArrayList<>();
        for (Share share : waiting) {
            if (share.hasRoom()) {
                found.add(share);
            }
        }
        found.forEach(waiting::remove);
        waitingCount = waiting.size();
        return found;
    }

    private synchronized void startWaiting(Share share) {
        waiting.add(share);
        waitingCount = waiting.size();
    }

    private synchronized void stopWaiting(Share share) {
        waiting.remove(share);
        waitingCount = waiting.size();
    }

    /**
     * What one bound consumer has of it.
     *
     * <p>Threading: used by the pipe's transfer thread; {@link #written} by any.
     */
    public final class Share implements AutoCloseable {
        private final Runnable wake;
        private long givenBytes;
        private long writtenBytes;
        private boolean closed;
        /** What is given and not written; changed under the share's lock, since a socket's thread may report. */
        private volatile long heldBytes;

        private volatile long heldEvents;

        private Share(long givenBytes, Runnable wake) {
            this.givenBytes = givenBytes;
            this.writtenBytes = givenBytes;
            this.wake = wake;
        }

        /** False: nothing may be sent now, and {@code wake} is called once that has changed. */
        public boolean mayTake() {
            if (hasRoom()) {
                return true;
            }
            startWaiting(this);
            if (!hasRoom()) { // room may have come back before it was known who waits
                return false;
            }
            stopWaiting(this);
            return true;
        }

        /**
         * An event was given to the connection.
         *
         * @param endsAtBytes what the connection has been given with it, as {@link DeliverySink#deliver} returned
         */
        public void sent(long endsAtBytes) {
            long more;
            synchronized (this) {
                more = Math.max(0, endsAtBytes - Math.max(givenBytes, writtenBytes));
                givenBytes = Math.max(givenBytes, endsAtBytes);
                heldBytes += more;
                heldEvents++;
            }
            bytes.addAndGet(more);
            events.incrementAndGet();
        }

        /** So many of the given bytes have reached the socket. */
        public void written(long bytesSoFar) {
            long fewer;
            synchronized (this) {
                long upTo = Math.min(givenBytes, bytesSoFar);
                fewer = closed ? 0 : Math.max(0, upTo - writtenBytes);
                fewer = Math.min(fewer, heldBytes);
                writtenBytes = Math.max(writtenBytes, bytesSoFar);
                heldBytes -= fewer;
            }
            if (fewer > 0) {
                release(fewer, 0);
            }
        }

        /** So many events are in flight no more. */
        public void returned(int count) {
            synchronized (this) {
                if (closed) {
                    return;
                }
                heldEvents -= count;
            }
            release(0, count);
        }

        /** The consumer is bound no more: gives everything back and waits no longer. */
        @Override
        public void close() {
            long fewerBytes;
            long fewerEvents;
            synchronized (this) {
                closed = true;
                fewerBytes = heldBytes;
                fewerEvents = heldEvents;
                heldBytes = 0;
                heldEvents = 0;
            }
            stopWaiting(this);
            release(fewerBytes, fewerEvents);
        }

        private boolean hasRoom() {
            return heldEvents == 0
                    || (heldBytes < config.unwrittenBytes() - bytes.get()
                            && heldEvents < config.inFlightEvents() - events.get());
        }
    }
}
