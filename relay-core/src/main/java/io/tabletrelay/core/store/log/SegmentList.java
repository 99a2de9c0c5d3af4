package io.tabletrelay.core.store.log;

import java.util.ArrayList;
import java.util.List;

/**
 * A log's segments in the order of their ids.
 *
 * <p>Threading: immutable, but for what its segments say of themselves; a log replaces its list as a whole.
 */
record SegmentList(List<Segment> segments) {
    SegmentList {
        segments = List.copyOf(segments);
    }

    SegmentList with(Segment newest) {
        List<Segment> longer = new ArrayList<>(segments);
        longer.add(newest);
        return new SegmentList(longer);
    }

    SegmentList withoutOldest(int count) {
        return new SegmentList(segments.subList(count, segments.size()));
    }

    /** How many of the oldest segments, the newest never among them, end at or below this id. */
    int oldestEndingBy(long id) {
        int count = 0;
        while (count + 1 < segments.size() && segments.get(count).lastId() <= id) {
            count++;
        }
        return count;
    }

    /** The same with another one in the newest's place. */
    SegmentList withNewest(Segment newest) {
        return new SegmentList(segments.subList(0, segments.size() - 1)).with(newest);
    }

    /** Ask only if there is one. */
    Segment newest() {
        return segments.get(segments.size() - 1);
    }

    /** The first id from {@code id} on that a segment has, or {@code none}. */
    long skipVoid(long id, long none) {
        for (int i = firstEndingAtOrBehind(id); i < segments.size(); i++) {
            Segment segment = segments.get(i);
            if (segment.lastId() >= segment.firstId()) {
                return Math.max(id, segment.firstId());
            }
        }
        return none;
    }

    /** The segment that has this id; ask only for ids that {@link #skipVoid} gave. */
    Segment holding(long id) {
        int index = firstEndingAtOrBehind(id);
        if (index == segments.size() || !segments.get(index).contains(id)) {
            throw new IllegalArgumentException("no segment has this id: id=" + id);
        }
        return segments.get(index);
    }

    /** How many ids above this one the segments have. */
    long idsAbove(long id) {
        long ids = 0;
        for (int i = segments.size() - 1; i >= 0 && segments.get(i).lastId() > id; i--) {
            Segment segment = segments.get(i);
            ids += segment.lastId() - Math.max(segment.firstId() - 1, id);
        }
        return ids;
    }

    long diskBytes() {
        long bytes = 0;
        for (Segment segment : segments) {
            bytes += segment.diskBytes();
        }
        return bytes;
    }

    /** The lowest id of all segments that have one, or {@code none}. */
    long firstId(long none) {
        return skipVoid(0, none);
    }

    private int firstEndingAtOrBehind(long id) {
        int low = 0;
        int high = segments.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (segments.get(middle).lastId() < id) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
