package io.tabletrelay.core.delivery;

/**
 * What all subscriptions of a pipe have settled together. A pipe without any keeps everything.
 *
 * <p>Threading: confined to the pipe's transfer thread, but for {@link #settleBelow}.
 */
public interface AllSubscriptions {
    /** Up to this id everything may be deleted: all of them have settled it. */
    long settledByAll();

    /** Up to this id nothing is left to be dropped. */
    long lowestFloor();

    /** The id up to which that many events are that the one with the largest backlog has not settled. */
    long endOfOldest(long events);

    /**
     * Every id below this one is settled for ever for all of them; on disk when this returns. I/O thread.
     *
     * @throws io.tabletrelay.core.store.StoreException if the disk refuses
     */
    void settleBelow(long id);

    /** Forgets what {@link #settleBelow} told the disk. Returns how many events somebody had not settled. */
    long drop(long upToId);
}
