package io.tabletrelay.harness.bench.server;

import java.io.IOException;

/**
 * One server that is measured, opened anew for each round.
 *
 * <p>Threading: used by the thread that reads commands, and by one that pushes; what {@link #settled} reads is thread-safe.
 */
interface ServedVariant {
    /** Where consumers connect; 0 if there are none. */
    default int wsPort() {
        return 0;
    }

    /** Where HTTP publishers post; 0 if they cannot. */
    default int httpPort() {
        return 0;
    }

    /** Sends that many events as fast as it goes; returns when they are handed over, or stored where there is a store. */
    void push(long events) throws IOException, InterruptedException;

    /** Sends that many events at this rate; each begins with the {@code System.nanoTime()} at which it was due. */
    void pace(int eventsPerSecond, long events) throws InterruptedException;

    /** Acks read so far. */
    long settled();

    /** Ends it; nothing may be called afterwards. */
    void stop() throws IOException, InterruptedException;
}
