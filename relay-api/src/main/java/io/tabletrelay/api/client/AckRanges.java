package io.tabletrelay.api.client;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Acks that are to be sent, merged into ranges in which every id is acked. ACKTO would be shorter by nothing, and would settle
 * an earlier event that is on its way here again.
 *
 * <p>What was sent may never be read, if the connection is lost: as many of the last as the window has are kept, and {@link
 * #lost} makes them go again.
 *
 * <p>Threading: confined to the client's loop.
 */
final class AckRanges {
    private static final int RANGES_A_LINE = 512;

    private final long keptIds;
    private final TreeMap<Long, Long> lastByFirst = new TreeMap<>();
    private final Deque<Range> sent = new ArrayDeque<>();
    private long sentIds;

    /** @param keptIds how many ids may be on their way to the relay at once */
    AckRanges(long keptIds) {
        this.keptIds = keptIds;
    }

    private record Range(long first, long last) {
        long ids() {
            return last - first + 1;
        }
    }

    void add(long id) {
        add(id, id);
    }

    private void add(long first, long last) {
        long from = first;
        long to = last;
        Map.Entry<Long, Long> before = lastByFirst.floorEntry(first);
        if (before != null && before.getValue() >= first - 1) {
            from = before.getKey();
            to = Math.max(to, before.getValue());
        }
        for (Map.Entry<Long, Long> next = lastByFirst.ceilingEntry(first);
                next != null && next.getKey() <= to + 1;
                next = lastByFirst.higherEntry(next.getKey())) {
            to = Math.max(to, next.getValue());
            lastByFirst.remove(next.getKey());
        }
        lastByFirst.put(from, to);
    }

    boolean isEmpty() {
        return lastByFirst.isEmpty();
    }

    /** The next line to send; null if there is nothing to ack. */
    @Nullable
    String line() {
        if (lastByFirst.isEmpty()) {
            return null;
        }
        StringBuilder line = new StringBuilder("ACK:");
        for (int i = 0; i < RANGES_A_LINE; i++) {
            Map.Entry<Long, Long> next = lastByFirst.pollFirstEntry();
            if (next == null) {
                break;
            }
            Range range = new Range(next.getKey(), next.getValue());
            line.append(i == 0 ? "" : ",").append(range.first);
            if (range.last > range.first) {
                line.append('-').append(range.last);
            }
            keep(range);
        }
        return line.toString();
    }

    private void keep(Range range) {
        sent.add(range);
        sentIds += range.ids();
        while (sent.size() > 1 && sentIds - sent.element().ids() >= keptIds) {
            sentIds -= sent.remove().ids();
        }
    }

    /** The connection is lost: what may not have been read is to be sent again. */
    void lost() {
        sent.forEach(range -> add(range.first, range.last));
        sent.clear();
        sentIds = 0;
    }

    /** The ids mean other events now. */
    void clear() {
        lastByFirst.clear();
        sent.clear();
        sentIds = 0;
    }
}
