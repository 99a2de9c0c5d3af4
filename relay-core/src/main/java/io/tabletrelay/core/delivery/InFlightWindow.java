package io.tabletrelay.core.delivery;

import java.util.Arrays;

/**
 * Events sent to the bound consumer and not yet settled, found by id and ordered by when they were sent.
 *
 * <p>An entry's ack deadline starts when its last byte has reached the socket. Since bytes leave in the order of sending, a
 * prefix of the entries has started and the rest has not.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 */
final class InFlightWindow {
    private static final int NONE = -1;

    private long[] ids = new long[16];
    private long[] endOffsets = new long[16];
    private long[] sinceNanos = new long[16];
    private int[] payloadBytes = new int[16];
    private int[] older = new int[16];
    private int[] newer = new int[16];
    /** Entry by id: open addressing with linear probing, at most half full; 0 = empty, else entry + 1. */
    private int[] table = new int[32];

    private int freeHead = NONE;
    private int used;
    private int size;
    private long bytes;
    /** False: a lower id stands behind a higher one, or may. */
    private boolean ascending = true;

    private int oldest = NONE;
    private int newest = NONE;
    private int firstUnwritten = NONE;
    /** As it was when it was last asked for. */
    private long writtenBytes;

    int size() {
        return size;
    }

    /** Payload bytes of all events in it. */
    long bytes() {
        return bytes;
    }

    boolean contains(long id) {
        return find(id) != NONE;
    }

    /** When the deadline of an event that is in flight began; {@code otherwise} while its last byte has not reached the socket. */
    long sinceNanos(long id, long otherwise) {
        int entry = find(id);
        return endOffsets[entry] <= writtenBytes ? sinceNanos[entry] : otherwise;
    }

    /** Adds an event that is about to be sent; {@link #lastEndsAt} follows once its bytes were handed over. */
    void add(long id, int eventBytes, long nowNanos) {
        int entry = allocate();
        ascending = newest == NONE || (ascending && ids[newest] < id);
        bytes += eventBytes;
        ids[entry] = id;
        payloadBytes[entry] = eventBytes;
        endOffsets[entry] = Long.MAX_VALUE;
        sinceNanos[entry] = nowNanos;
        link(entry, NONE);
        if (firstUnwritten == NONE) {
            firstUnwritten = entry;
        }
        insert(entry);
        size++;
    }

    /** Says where in the connection's stream of bytes the event added last ends. */
    void lastEndsAt(long endOffset) {
        endOffsets[newest] = endOffset;
    }

    /** Returns false for an id that is not in flight: a late or repeated ack is normal, not an error. */
    boolean remove(long id) {
        int entry = find(id);
        if (entry == NONE) {
            return false;
        }
        unlink(entry);
        removeFromTable(entry);
        newer[entry] = freeHead;
        freeHead = entry;
        size--;
        bytes -= payloadBytes[entry];
        return true;
    }

    /** Starts the deadline of an event anew; false if it is not in flight. One that has not reached the socket yet stays as it is. */
    boolean restart(long id, long nowNanos) {
        int entry = find(id);
        if (entry == NONE) {
            return false;
        }
        if (endOffsets[entry] > writtenBytes) {
            return true;
        }
        sinceNanos[entry] = nowNanos;
        if (newer[entry] != firstUnwritten) {
            unlink(entry);
            link(entry, firstUnwritten);
            ascending = false;
        }
        return true;
    }

    /** Puts the entry in front of another one, or at the end. */
    private void link(int entry, int before) {
        int after = before == NONE ? newest : older[before];
        older[entry] = after;
        newer[entry] = before;
        if (after == NONE) {
            oldest = entry;
        } else {
            newer[after] = entry;
        }
        if (before == NONE) {
            newest = entry;
        } else {
            older[before] = entry;
        }
    }

    /** The ids up to this one, in the order in which they were sent. */
    long[] idsUpTo(long id) {
        long[] found = new long[16];
        int n = 0;
        for (int entry = oldest; entry != NONE && !(ascending && ids[entry] > id); entry = newer[entry]) {
            if (ids[entry] <= id) {
                if (n == found.length) {
                    found = Arrays.copyOf(found, 2 * n);
                }
                found[n++] = ids[entry];
            }
        }
        return Arrays.copyOf(found, n);
    }

    void removeUpTo(long id) {
        for (int entry = oldest; entry != NONE; ) {
            int next = newer[entry];
            if (ids[entry] <= id) {
                remove(ids[entry]);
            }
            entry = next;
        }
    }

    /** Starts the deadlines of all events whose last byte has reached the socket by now. */
    void written(long bytesSoFar, long lastWriteNanos) {
        writtenBytes = bytesSoFar;
        while (firstUnwritten != NONE && endOffsets[firstUnwritten] <= writtenBytes) {
            sinceNanos[firstUnwritten] = Math.max(sinceNanos[firstUnwritten], lastWriteNanos);
            firstUnwritten = newer[firstUnwritten];
        }
    }

    /** Returns the id whose deadline has passed longest ago, or 0 when there is none. */
    long expired(long nowNanos, long timeoutNanos) {
        boolean due = oldest != NONE && oldest != firstUnwritten && nowNanos - sinceNanos[oldest] >= timeoutNanos;
        return due ? ids[oldest] : 0;
    }

    /**
     * When to look again for expired events; only for a window that is not empty. For an event that is not yet written this
     * is one timeout after it was sent, when its deadline may have started meanwhile.
     */
    long nextDeadlineNanos(long nowNanos, long timeoutNanos) {
        long deadline = sinceNanos[oldest] + timeoutNanos;
        return oldest == firstUnwritten && deadline - nowNanos <= 0 ? nowNanos + timeoutNanos : deadline;
    }

    /** Empties the window and returns its ids in ascending order. */
    long[] clear() {
        long[] all = new long[size];
        int n = 0;
        for (int entry = oldest; entry != NONE; entry = newer[entry]) {
            all[n++] = ids[entry];
        }
        Arrays.fill(table, 0);
        freeHead = NONE;
        used = 0;
        size = 0;
        bytes = 0;
        ascending = true;
        oldest = NONE;
        newest = NONE;
        firstUnwritten = NONE;
        Arrays.sort(all);
        return all;
    }

    private int allocate() {
        if (freeHead != NONE) {
            int entry = freeHead;
            freeHead = newer[entry];
            return entry;
        }
        if (used == ids.length) {
            grow();
        }
        return used++;
    }

    private void grow() {
        int capacity = ids.length * 2;
        ids = Arrays.copyOf(ids, capacity);
        endOffsets = Arrays.copyOf(endOffsets, capacity);
        sinceNanos = Arrays.copyOf(sinceNanos, capacity);
        payloadBytes = Arrays.copyOf(payloadBytes, capacity);
        older = Arrays.copyOf(older, capacity);
        newer = Arrays.copyOf(newer, capacity);
        table = new int[capacity * 2];
        for (int entry = oldest; entry != NONE; entry = newer[entry]) {
            insert(entry);
        }
    }

    private void unlink(int entry) {
        if (entry == firstUnwritten) {
            firstUnwritten = newer[entry];
        }
        if (older[entry] == NONE) {
            oldest = newer[entry];
        } else {
            newer[older[entry]] = newer[entry];
        }
        if (newer[entry] == NONE) {
            newest = older[entry];
        } else {
            older[newer[entry]] = older[entry];
        }
    }

    private int home(long id) {
        return (int) ((id * 0x9E3779B97F4A7C15L) >>> 32) & (table.length - 1);
    }

    private int find(long id) {
        for (int slot = home(id); table[slot] != 0; slot = (slot + 1) & (table.length - 1)) {
            if (ids[table[slot] - 1] == id) {
                return table[slot] - 1;
            }
        }
        return NONE;
    }

    private void insert(int entry) {
        int slot = home(ids[entry]);
        while (table[slot] != 0) {
            slot = (slot + 1) & (table.length - 1);
        }
        table[slot] = entry + 1;
    }

    /** Backward-shift deletion: no tombstones, so that the table never fills up with them. */
    private void removeFromTable(int entry) {
        int mask = table.length - 1;
        int hole = home(ids[entry]);
        while (table[hole] != entry + 1) {
            hole = (hole + 1) & mask;
        }
        for (int slot = (hole + 1) & mask; table[slot] != 0; slot = (slot + 1) & mask) {
            int home = home(ids[table[slot] - 1]);
            if (((slot - home) & mask) >= ((slot - hole) & mask)) {
                table[hole] = table[slot];
                hole = slot;
            }
        }
        table[hole] = 0;
    }
}
