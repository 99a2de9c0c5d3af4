package io.tabletrelay.api.client;

/**
 * What may be published and not yet answered: so many events, so many bytes. One event always fits into an empty room.
 *
 * <p>Threading: thread-safe by its lock.
 */
final class Room {
    private final int mostEvents;
    private final long mostBytes;
    private int events;
    private long bytes;
    private boolean open = true;

    Room(int mostEvents, long mostBytes) {
        this.mostEvents = mostEvents;
        this.mostBytes = mostBytes;
    }

    /** Waits for room; once the room is closed, for nothing. */
    synchronized void enter(long eventBytes) throws InterruptedException {
        while (open && !fits(eventBytes)) {
            wait();
        }
        take(eventBytes);
    }

    /** Returns false if there is no room. */
    synchronized boolean tryEnter(long eventBytes) {
        boolean there = !open || fits(eventBytes);
        if (there) {
            take(eventBytes);
        }
        return there;
    }

    /** Goes in even if there is no room: for who must not wait. */
    synchronized void squeezeIn(long eventBytes) {
        take(eventBytes);
    }

    private boolean fits(long eventBytes) {
        return events == 0 || (events < mostEvents && bytes + eventBytes <= mostBytes);
    }

    private void take(long eventBytes) {
        events++;
        bytes += eventBytes;
    }

    synchronized void leave(long eventBytes) {
        events--;
        bytes -= eventBytes;
        notifyAll();
    }

    /** Nobody waits any more. */
    synchronized void close() {
        open = false;
        notifyAll();
    }
}
