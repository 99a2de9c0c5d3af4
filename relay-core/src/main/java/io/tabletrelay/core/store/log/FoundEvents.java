package io.tabletrelay.core.store.log;

import java.io.IOException;
import java.util.Arrays;

/**
 * What one search of a damaged segment found: which events of a range of ids there are, and where in the file. They need not
 * lie in the order of their ids: a write that went astray may have put a copy of a later record over an earlier one.
 *
 * <p>Threading: immutable.
 */
final class FoundEvents {
    private static final int MOST_EVENTS = 4096;

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
     * Goes on with the search through these ids, or through the first of them if there are many events: then it says nothing of
     * the last quarter of what was found, since an id that is out of its order would make it pass over those not reached yet.
     */
    static FoundEvents from(SegmentSearch search, long firstId, long lastId) throws IOException {
        search.refresh();
        Collector found = new Collector(lastId - firstId + 1);
        boolean more = true;
        while (more && !found.isFull()) {
            long id = search.find(firstId, lastId);
            more = id >= 0;
            if (more) {
                found.add(id, search.foundPosition());
                more = !found.isComplete(); // the last id may be a copy: nothing but the file's end says that there
                // is no more
            }
        }
        if (!more || found.size < 2) {
            return new FoundEvents(firstId, lastId, found.ids(found.size), found.positions(found.size));
        }
        int kept = Math.max(1, found.size * 3 / 4);
        search.goOnAt(found.positions[kept]);
        return new FoundEvents(firstId, found.ids[kept] - 1, found.ids(kept), found.positions(kept));
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

    /** What was found so far, by id, each one once. */
    private static final class Collector {
        private final long wanted;
        private final long[] ids;
        private final long[] positions;
        private int added;
        private int size;

        Collector(long wanted) {
            this.wanted = wanted;
            ids = new long[MOST_EVENTS];
            positions = new long[MOST_EVENTS];
        }

        void add(long id, long position) {
            added++;
            int place = size;
            while (place > 0 && ids[place - 1] > id) {
                place--;
            }
            if (place > 0 && ids[place - 1] == id) {
                return;
            }
            System.arraycopy(ids, place, ids, place + 1, size - place);
            System.arraycopy(positions, place, positions, place + 1, size - place);
            ids[place] = id;
            positions[place] = position;
            size++;
        }

        boolean isFull() {
            return added == MOST_EVENTS;
        }

        boolean isComplete() {
            return size == wanted;
        }

        long[] ids(int count) {
            return Arrays.copyOf(ids, count);
        }

        long[] positions(int count) {
            return Arrays.copyOf(positions, count);
        }
    }
}
