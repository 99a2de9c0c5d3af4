package io.tabletrelay.core.store.log;

import java.io.IOException;
import java.util.Arrays;

/**
 * What one search of a damaged segment found: which events of a range of ids there are, and where in the file.
 *
 * <p>Threading: immutable.
 */
final class FoundEvents {
    private static final int MOST_EVENTS = 4096;
    private static final long UNREADABLE = -2;

    private final long firstId;
    private final long lastId;
    private final long[] ids;
    private final long[] positions;

    private FoundEvents(long firstId, long lastId, long[] ids, long[] positions) {
        this.firstId = firstId;
        this.lastId = lastId;
        this.ids = ids;
        this.positions = positions;
    }

    /** There is none of these. */
    static FoundEvents none(long firstId, long lastId) {
        return new FoundEvents(firstId, lastId, new long[0], new long[0]);
    }

    /**
     * Goes on with the search through these ids, or through the first of them if there are many events, or the file cannot be
     * read further.
     */
    static FoundEvents from(SegmentSearch search, long firstId, long lastId) throws IOException {
        int most = (int) Math.min(MOST_EVENTS, lastId - firstId + 1);
        long[] ids = new long[most];
        long[] positions = new long[most];
        int found = 0;
        long next = firstId;
        search.refresh();
        while (found < most && next <= lastId) {
            long id = find(search, next, lastId, found > 0);
            if (id == UNREADABLE) {
                break;
            }
            if (id < 0) {
                next = lastId + 1;
            } else {
                ids[found] = id;
                positions[found++] = search.foundPosition();
                next = id + 1;
            }
        }
        return new FoundEvents(firstId, next - 1, Arrays.copyOf(ids, found), Arrays.copyOf(positions, found));
    }

    private static long find(SegmentSearch search, long firstId, long lastId, boolean foundSome) throws IOException {
        try {
            return search.find(firstId, lastId);
        } catch (IOException e) {
            if (foundSome && SegmentFile.isLost(e)) {
                return UNREADABLE;
            }
            throw e;
        }
    }

    /** True if this search says whether the event is there. */
    boolean covers(long id) {
        return id >= firstId && id <= lastId;
    }

    /** True if another search for this id may go on where this one ended. */
    boolean endsBefore(long id) {
        return id > lastId;
    }

    /** The first event from {@code id} on; if there is none, the first id that this search says nothing of. */
    long next(long id) {
        int place = Arrays.binarySearch(ids, id);
        int next = place < 0 ? -place - 1 : place;
        return next < ids.length ? ids[next] : lastId + 1;
    }

    /** Where an event that was found lies. */
    long position(long id) {
        return positions[Arrays.binarySearch(ids, id)];
    }
}
