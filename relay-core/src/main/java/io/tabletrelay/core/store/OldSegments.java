package io.tabletrelay.core.store;

/**
 * A log's segments as far as they can be deleted: whole, the oldest first, and never the newest, which knows for all others
 * what was void and where the ids go on.
 *
 * <p>Threading: as {@link EventLog} says.
 */
public interface OldSegments {
    /** What {@link #firstEnd} says of a log that has one segment or none. */
    long NONE = Long.MAX_VALUE;

    /**
     * What may be deleted now because nothing keeps it.
     *
     * @param upToId the last id of the newest segment that may go; 0: none may
     * @param nextMillis when the first of those that are kept may go for their age, ms since the epoch; {@link #NONE}: never
     */
    record Expired(long upToId, long nextMillis) {}

    /** The last id of the oldest segment that is not the newest too. */
    long firstEnd();

    /** How many segments there are. */
    int count();

    /** True if the newest segment has an event. */
    boolean newestHasEvents();

    /**
     * Takes the log's readers out of the segments that end at or below this id. Returns the id up to which that was done:
     * where a segment is being opened for a reader, it stays, with all behind it.
     */
    long release(long upToId);

    /** Tells which of the segments that end at or below this id are kept no longer; reads the newest event of some. I/O thread. */
    Expired expired(long upToId, long nowMillis);

    /**
     * Deletes the segments that end at or below this id, which must be released and settled for ever. Killed at any step, the
     * next open goes on with it. I/O thread.
     *
     * @throws StoreException if the disk refuses; what is still to be deleted is tried again at the next call
     */
    void deleteUpTo(long upToId);

    /**
     * Starts a segment for the group though there is no room for one, because all before it is settled and deleted next. I/O
     * thread, as {@link EventLog#makeRoomFor}, and it throws the same.
     */
    void roll(EventGroup group);
}
