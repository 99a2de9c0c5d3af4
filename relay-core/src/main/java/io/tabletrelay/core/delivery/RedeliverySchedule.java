package io.tabletrelay.core.delivery;

import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Events that wait to be delivered again: those that are due, by id, and those that are not, by when they will be.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 */
final class RedeliverySchedule {
    private record Later(long dueNanos, long id) implements Comparable<Later> {
        @Override
        public int compareTo(Later other) {
            long difference = dueNanos - other.dueNanos; // System.nanoTime() may wrap: compare differences only
            return difference != 0 ? Long.signum(difference) : Long.compare(id, other.id);
        }
    }

    private final TreeSet<Long> due = new TreeSet<>();
    private final TreeSet<Later> later = new TreeSet<>();
    private final TreeMap<Long, Later> laterById = new TreeMap<>();

    int size() {
        return due.size() + later.size();
    }

    boolean contains(long id) {
        return size() > 0 && (due.contains(id) || laterById.containsKey(id));
    }

    /** To be delivered as soon as there is credit. */
    void now(long id) {
        due.add(id);
    }

    /** To be delivered from that moment on. */
    void at(long dueNanos, long id) {
        Later entry = new Later(dueNanos, id);
        later.add(entry);
        laterById.put(id, entry);
    }

    boolean remove(long id) {
        if (size() == 0) {
            return false;
        }
        Later entry = laterById.remove(id);
        return entry == null ? due.remove(id) : later.remove(entry);
    }

    void removeUpTo(long id) {
        due.headSet(id, true).clear();
        later.removeIf(entry -> entry.id() <= id);
        laterById.keySet().removeIf(each -> each <= id);
    }

    /** Returns the lowest id that is due, or 0 when none is. */
    long firstDue(long nowNanos) {
        while (!later.isEmpty() && later.first().dueNanos() - nowNanos <= 0) {
            long id = later.pollFirst().id();
            laterById.remove(id);
            due.add(id);
        }
        return due.isEmpty() ? 0 : due.first();
    }

    /** Returns the lowest id that waits, due or not; 0: none. */
    long lowest() {
        long lowest = due.isEmpty() ? 0 : due.first();
        if (laterById.isEmpty()) {
            return lowest;
        }
        return lowest == 0 ? laterById.firstKey() : Math.min(lowest, laterById.firstKey());
    }

    /** When that event, which is here, is due; {@code now}: it is. */
    long dueNanos(long id, long now) {
        Later entry = laterById.get(id);
        return entry == null ? now : entry.dueNanos();
    }

    /** When the next event becomes due, or {@code otherwise} when none is waiting for its time. */
    long nextDueNanos(long otherwise) {
        return later.isEmpty() ? otherwise : later.first().dueNanos();
    }
}
