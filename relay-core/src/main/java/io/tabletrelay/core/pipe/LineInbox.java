package io.tabletrelay.core.pipe;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/**
 * Lines of one connection that wait for the transfer thread: acks as their id, negative acks as its negative.
 *
 * <p>A connection can only mean ids that it or its predecessor had in its window. When more distinct lines than two of the
 * largest windows wait, the rest cannot be real and is dropped.
 *
 * <p>Threading: thread-safe by its lock.
 */
final class LineInbox {
    private static final int MOST = 2 * 65_536;

    private long[] lines = new long[16];
    private int size;

    /** Returns true if the inbox was empty: the transfer thread must be told. */
    synchronized boolean add(long line) {
        if (size == MOST) {
            dropRepeats();
        }
        if (size == MOST) {
            return false;
        }
        if (size == lines.length) {
            lines = Arrays.copyOf(lines, size * 2);
        }
        lines[size++] = line;
        return size == 1;
    }

    /** Takes all lines, in the order in which they came. */
    synchronized long[] takeAll() {
        long[] taken = Arrays.copyOf(lines, size);
        size = 0;
        return taken;
    }

    /** Keeps the first of each line: an ack settles whatever follows it, and a second refusal of a delivery is void. */
    private void dropRepeats() {
        Set<Long> seen = new HashSet<>();
        int kept = 0;
        for (int i = 0; i < size; i++) {
            if (seen.add(lines[i])) {
                lines[kept++] = lines[i];
            }
        }
        size = kept;
    }
}
