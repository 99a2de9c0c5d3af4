package io.tabletrelay.core.protocol;

import java.util.Arrays;

/**
 * The ids of an ack: single ones and ranges, in the order in which they were given. Read again and again into the same
 * arrays.
 *
 * <p>Threading: confined to the connection's worker thread.
 */
public final class IdRanges {
    /** Most ids and ranges in one line. */
    public static final int MOST = 1024;

    private static final int FIRST_SIZE = 16;

    private long[] firstIds = new long[FIRST_SIZE];
    private long[] lastIds = new long[FIRST_SIZE];
    private int size;

    IdRanges() {}

    /** Reads a list like {@code 3,5-9}, all of it or, by throwing, nothing of it. */
    void read(String list, int from) throws ProtocolException {
        size = 0;
        int start = from;
        while (start <= list.length()) {
            int comma = list.indexOf(',', start);
            int end = comma < 0 ? list.length() : comma;
            int dash = list.indexOf('-', start);
            if (dash < 0 || dash >= end) {
                long id = Digits.id(list, start, end);
                add(id, id);
            } else {
                add(Digits.id(list, start, dash), Digits.id(list, dash + 1, end));
            }
            start = end + 1;
        }
    }

    private void add(long firstId, long lastId) throws ProtocolException {
        if (lastId < firstId) {
            throw new ProtocolException("a range that ends before it begins: first=" + firstId + ", last=" + lastId);
        }
        if (size == MOST) {
            throw new ProtocolException("more than " + MOST + " ids and ranges in one line");
        }
        if (size == firstIds.length) {
            firstIds = Arrays.copyOf(firstIds, 2 * size);
            lastIds = Arrays.copyOf(lastIds, 2 * size);
        }
        firstIds[size] = firstId;
        lastIds[size++] = lastId;
    }

    /** How many ids and ranges there are. */
    public int size() {
        return size;
    }

    public long firstId(int index) {
        return firstIds[index];
    }

    public long lastId(int index) {
        return lastIds[index];
    }
}
