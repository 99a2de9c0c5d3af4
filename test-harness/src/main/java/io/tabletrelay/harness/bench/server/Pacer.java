package io.tabletrelay.harness.bench.server;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Sends at a fixed rate, whatever becomes of what was sent before: who is late catches up, and each event says when it was
 * due, so that a stall shows in all events that it held up.
 *
 * <p>Threading: immutable.
 */
final class Pacer {
    private static final long NANOS_PER_SECOND = 1_000_000_000L;
    /** Linux ends a thread's wait up to 50 µs late unless the thread asks for less. */
    private static final Path TIMER_SLACK = Path.of("/proc/thread-self/timerslack_ns");

    private final long eventsPerSecond;
    private final int eventBytes;

    Pacer(int eventsPerSecond, int eventBytes) {
        this.eventsPerSecond = eventsPerSecond;
        this.eventBytes = eventBytes;
    }

    /** Returns when the last one was sent. */
    void send(long events, Consumer<ByteBuffer> target) throws InterruptedException {
        wakeInTime();
        long startNanos = System.nanoTime();
        for (long n = 0; n < events; n++) {
            long dueNanos = startNanos + n * NANOS_PER_SECOND / eventsPerSecond;
            for (long wait = dueNanos - System.nanoTime(); wait > 0; wait = dueNanos - System.nanoTime()) {
                LockSupport.parkNanos(this, wait);
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
            }
            target.accept(ByteBuffer.allocate(eventBytes).putLong(0, dueNanos));
        }
    }

    private static void wakeInTime() {
        try {
            Files.writeString(TIMER_SLACK, "1");
        } catch (IOException e) {
            System.err.println("bench: timers are up to 50 µs late, in all variants alike: path=" + TIMER_SLACK
                    + ", reason=" + e.getMessage());
        }
    }
}
