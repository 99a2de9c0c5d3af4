package io.tabletrelay.core.store.log;

/**
 * Which ids a log may give: those up to its mark, which is raised ahead of their use.
 *
 * <p>Threading: thread-safe by a volatile field; it is raised by I/O threads, one at a time.
 */
final class IdRoom {
    private static final int FIRST_IDS = 64;
    private static final int MOST_IDS = 64 << 10;
    /** Each raise of the id mark waits for the disk: a busy pipe has few of them. */
    private static final int IDS_PER_GIVEN = 4;

    private static final int IS_LOW_BELOW = 8;

    private final IdMark mark;
    private final long lastIdAtOpen;
    private volatile long upToId;

    /** {@code lastIdAtOpen}: the last id of an event before any was given by this open log. */
    IdRoom(IdMark mark, long lastIdAtOpen) {
        this.mark = mark;
        this.lastIdAtOpen = lastIdAtOpen;
        this.upToId = mark.value();
    }

    boolean hasRoomFor(int ids, long lastId) {
        return lastId + ids <= upToId;
    }

    boolean isLow(long lastId) {
        return upToId - lastId < aheadIds(lastId) / IS_LOW_BELOW;
    }

    /** For so many ids, and more. I/O thread. */
    void raiseFor(int ids, long lastId) {
        long raised = lastId + ids + aheadIds(lastId);
        mark.raiseTo(raised);
        upToId = raised;
    }

    /** Throws StoreException if another process may give these ids too. I/O thread. */
    void checkIsOurs() {
        mark.checkIsOurs();
    }

    /** Small while a pipe has given few ids, so that a power cut leaves small gaps. */
    private long aheadIds(long lastId) {
        return Math.min(MOST_IDS, Math.max(FIRST_IDS, IDS_PER_GIVEN * (lastId - lastIdAtOpen)));
    }
}
