package io.tabletrelay.core.pipe;

/**
 * One pipe's place among those whose files are open.
 *
 * <p>Threading: its methods are for the pipe's transfer thread; what it notes is read by others.
 */
final class OpenPlace {
    private final OpenPlaces places;
    private final Runnable wakeUp;
    private final Runnable closeIfIdle;
    private volatile boolean idle;
    private volatile long usedAtNanos;
    private boolean waits;
    private long waitsSinceNanos;

    OpenPlace(OpenPlaces places, Runnable wakeUp, Runnable closeIfIdle) {
        this.places = places;
        this.wakeUp = wakeUp;
        this.closeIfIdle = closeIfIdle;
    }

    /** True: the pipe has a place and may open its files. False: it is woken when it has one, and asks again. */
    boolean take(long nowNanos) {
        if (!waits) {
            waits = true;
            waitsSinceNanos = nowNanos;
        }
        waits = !places.take(this, nowNanos);
        return !waits;
    }

    boolean isWaiting() {
        return waits;
    }

    /** For how long the pipe has been waiting for its place; 0 if it is not. */
    long waitedNanos(long nowNanos) {
        return waits ? nowNanos - waitsSinceNanos : 0;
    }

    /** Who waited is told that there is no place: the next one's time begins now. */
    void waitAnew(long nowNanos) {
        waitsSinceNanos = nowNanos;
    }

    /** The pipe's files are closed, or it will not open them: it has no place and waits for none. */
    void free(long nowNanos) {
        waits = false;
        idle = false;
        places.free(this, nowNanos);
    }

    /** The end of a turn of an open pipe. True: it has nothing to do and its place is wanted; it is to be closed. */
    boolean isWanted(boolean nothingToDo, long nowNanos) {
        usedAtNanos = nowNanos;
        idle = nothingToDo;
        return nothingToDo && places.wantsPlaceOf(this);
    }

    /** The pipe was asked to close, and has something to do. */
    void keep(long nowNanos) {
        idle = false;
        places.kept(this, nowNanos);
    }

    boolean isIdle() {
        return idle;
    }

    long usedAtNanos() {
        return usedAtNanos;
    }

    void wakeUp() {
        wakeUp.run();
    }

    void askToClose() {
        closeIfIdle.run();
    }
}
