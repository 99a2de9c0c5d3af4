package io.tabletrelay.core.pipe;

import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jctools.queues.MpscUnboundedArrayQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the loops of the pipes that were given to it: those that have work, in turns; parks when none has.
 *
 * <p>An interrupt does not stop it: it is noted once, and delivery goes on.
 *
 * <p>Threading: {@link #schedule} is thread-safe; the rest runs on the thread itself.
 */
final class TransferThread implements Runnable {
    private static final Logger log = LoggerFactory.getLogger(TransferThread.class);

    /** When a pipe wants a turn though nothing happens. Each pipe has at most one. */
    record Timer(long deadlineNanos, long number, LoopedPipe pipe) implements Comparable<Timer> {
        @Override
        public int compareTo(Timer other) {
            long difference = deadlineNanos - other.deadlineNanos; // nanoTime may wrap: compare differences only
            return difference != 0 ? Long.signum(difference) : Long.compare(number, other.number);
        }
    }

    private final LongSupplier nanoTime;
    private final Thread thread;
    private final MpscUnboundedArrayQueue<LoopedPipe> ready = new MpscUnboundedArrayQueue<>(256);
    private final TreeSet<Timer> timers = new TreeSet<>();
    private long timersMade;
    private volatile boolean parked;
    private volatile boolean stopped;

    TransferThread(int number, LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.thread = new Thread(this, "relay-transfer-" + number);
        this.thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    /** The pipe wants a turn. A pipe is in the queue at most once, which bounds it. */
    void schedule(LoopedPipe pipe) {
        ready.offer(pipe);
        if (parked) {
            LockSupport.unpark(thread);
        }
    }

    /** Ends the thread once no pipe wants a turn any more. */
    void stop() {
        stopped = true;
        LockSupport.unpark(thread);
    }

    void join() throws InterruptedException {
        thread.join();
    }

    @Override
    public void run() {
        while (true) {
            boolean timerFired = fireTimers();
            LoopedPipe pipe = ready.poll();
            if (pipe != null) {
                turn(pipe);
            } else if (stopped) {
                return;
            } else if (!timerFired) {
                park();
            }
        }
    }

    /** A pipe answers its own failures; should even that fail, for want of memory say, the others go on. */
    private void turn(LoopedPipe pipe) {
        try {
            pipe.turn();
            remember(pipe);
        } catch (Throwable failure) {
            log.error("a turn could not be ended: pipe={}", pipe.name(), failure);
        }
    }

    /** Arms the pipe's timer. One that is set to fire earlier stays: firing early is harmless and rarer than a change. */
    private void remember(LoopedPipe pipe) {
        long now = nanoTime.getAsLong();
        long never = now + (Long.MAX_VALUE >> 1);
        long deadline = pipe.nextDeadlineNanos(never);
        Timer armed = pipe.timer();
        if (deadline == never || (armed != null && armed.deadlineNanos() - deadline <= 0)) {
            return;
        }
        if (armed != null) {
            timers.remove(armed);
        }
        Timer timer = new Timer(deadline, timersMade++, pipe);
        timers.add(timer);
        pipe.timer(timer);
    }

    private boolean fireTimers() {
        boolean fired = false;
        while (!timers.isEmpty() && timers.first().deadlineNanos() - nanoTime.getAsLong() <= 0) {
            LoopedPipe pipe = timers.pollFirst().pipe();
            pipe.timer(null);
            pipe.wake();
            fired = true;
        }
        return fired;
    }

    private void park() {
        parked = true;
        if (ready.isEmpty() && !stopped) {
            if (timers.isEmpty()) {
                LockSupport.park(this);
            } else {
                long waitNanos = timers.first().deadlineNanos() - nanoTime.getAsLong();
                LockSupport.parkNanos(this, Math.max(1, waitNanos));
            }
        }
        parked = false;
        if (Thread.interrupted()) {
            log.warn("transfer thread was interrupted and goes on: thread={}", thread.getName());
        }
    }
}
