package io.tabletrelay.core.delivery;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How many events may be in flight in the whole relay. A consumer that has none may always have one, so that those who never
 * ack starve nobody.
 *
 * <p>Threading: thread-safe; each transfer thread may pass the limit by an event.
 */
public final class InFlightBudget {
    private final long most;
    private final AtomicLong inFlight = new AtomicLong();
    private final Queue<Share> waiting = new ConcurrentLinkedQueue<>();

    public InFlightBudget(long most) {
        this.most = most;
    }

    /** What one pipe takes from it; {@code wake} gives the pipe a turn once there is room again. */
    public Share share(Runnable wake) {
        return new Share(wake);
    }

    /** How many there are now. */
    public long inFlight() {
        return inFlight.get();
    }

    /**
     * One pipe's view.
     *
     * <p>Threading: confined to the pipe's transfer thread, but for the wake-up.
     */
    public final class Share {
        private final Runnable wake;
        private final AtomicBoolean waits = new AtomicBoolean();

        private Share(Runnable wake) {
            this.wake = wake;
        }

        /** What another pipe takes of the same budget. */
        Share ofAnother(Runnable wakeOfAnother) {
            return new Share(wakeOfAnother);
        }

        /** False: the pipe is woken when there is room again. */
        boolean hasRoom() {
            if (inFlight.get() < most) {
                return true;
            }
            if (waits.compareAndSet(false, true)) {
                waiting.add(this);
            }
            return inFlight.get() < most; // again: it may all have been given back before this waited
        }

        void took() {
            inFlight.incrementAndGet();
        }

        void gaveBack(int events) {
            if (inFlight.addAndGet(-events) < most) {
                for (Share share = waiting.poll(); share != null; share = waiting.poll()) {
                    share.waits.set(false);
                    share.wake.run();
                }
            }
        }
    }
}
