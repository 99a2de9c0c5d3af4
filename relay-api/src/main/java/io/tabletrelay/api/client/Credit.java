package io.tabletrelay.api.client;

/**
 * Frames on this connection that the relay has not answered: never more than it permits. Sequences rise: nothing is sent again
 * before everything is answered.
 *
 * <p>Threading: confined to the producer's loop.
 */
final class Credit {
    private long[] sequences = {};
    private int first;
    private int count;

    /** A new connection: nothing is unanswered, and so many may be. */
    void reset(int permitted) {
        sequences = new long[permitted];
        first = 0;
        count = 0;
    }

    boolean isLeft() {
        return count < sequences.length;
    }

    boolean allAnswered() {
        return count == 0;
    }

    void sent(long sequence) {
        sequences[(first + count) % sequences.length] = sequence;
        count++;
    }

    /** One frame was refused. */
    void refused(long sequence) {
        for (int i = 0; i < count; i++) {
            if (at(i) == sequence) {
                for (int j = i; j > 0; j--) {
                    sequences[(first + j) % sequences.length] = at(j - 1);
                }
                first = (first + 1) % sequences.length;
                count--;
                return;
            }
        }
    }

    void storedUpTo(long sequence) {
        while (count > 0 && at(0) <= sequence) {
            first = (first + 1) % sequences.length;
            count--;
        }
    }

    private long at(int i) {
        return sequences[(first + i) % sequences.length];
    }
}
