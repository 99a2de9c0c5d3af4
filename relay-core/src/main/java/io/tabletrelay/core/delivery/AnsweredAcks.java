package io.tabletrelay.core.delivery;

import java.util.Arrays;

/**
 * Acks of one connection that are to be answered once they are durable: first those that a force does not cover yet, then those
 * that the force under way covers.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 */
final class AnsweredAcks {
    private long[] firstIds = new long[16];
    private long[] lastIds = new long[16];
    private int size;
    /** The first of these are covered by the force under way. */
    private int forcing;

    void add(long firstId, long lastId) {
        if (size > forcing && lastIds[size - 1] + 1 == firstId) {
            lastIds[size - 1] = lastId;
            return;
        }
        if (size == firstIds.length) {
            firstIds = Arrays.copyOf(firstIds, 2 * size);
            lastIds = Arrays.copyOf(lastIds, 2 * size);
        }
        firstIds[size] = firstId;
        lastIds[size++] = lastId;
    }

    void forceStarts() {
        forcing = size;
    }

    /** Tells what was covered by it; nothing if it failed, and then the next one covers it. */
    void forceEnded(boolean covered, DeliverySink sink) {
        if (covered) {
            tell(forcing, sink);
        }
        forcing = 0;
    }

    /** Tells all: each is durable as it is. */
    void tellAll(DeliverySink sink) {
        tell(size, sink);
    }

    private void tell(int count, DeliverySink sink) {
        if (count == 0) {
            return;
        }
        sink.acked(Arrays.copyOf(firstIds, count), Arrays.copyOf(lastIds, count));
        size -= count;
        System.arraycopy(firstIds, count, firstIds, 0, size);
        System.arraycopy(lastIds, count, lastIds, 0, size);
    }

    boolean isEmpty() {
        return size == 0;
    }

    void clear() {
        size = 0;
        forcing = 0;
    }
}
