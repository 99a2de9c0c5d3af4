package io.tabletrelay.api.client;

/**
 * Frames on this connection that the relay has not answered: never more, in number and bytes, than it permits; one always may be.
 * Sequences rise: nothing is sent again before everything is answered.
 *
 * <p>Threading: confined to the producer's loop.
 */
final class Credit {
    private long[] sequences = {};
    private int[] frameBytes = {};
    private int first;
    private int count;
    private long bytes;
    private long permittedBytes;

    /** A new connection: nothing is unanswered, and so much may be. */
    void reset(int permittedFrames, long newPermittedBytes) {
        sequences = new long[permittedFrames];
        frameBytes = new int[permittedFrames];
        first = 0;
        count = 0;
        bytes = 0;
        permittedBytes = newPermittedBytes;
    }

    boolean suffices(int moreBytes) {
        return count == 0 || (count < sequences.length && bytes + moreBytes <= permittedBytes);
    }

    boolean allAnswered() {
        return count == 0;
    }

    void sent(long sequence, int sentBytes) {
        int at = index(count);
        sequences[at] = sequence;
        frameBytes[at] = sentBytes;
        count++;
        bytes += sentBytes;
    }

    /** One frame was refused. */
    void refused(long sequence) {
        for (int i = 0; i < count; i++) {
            if (sequences[index(i)] == sequence) {
                int refusedBytes = frameBytes[index(i)];
                for (int j = i; j > 0; j--) {
                    sequences[index(j)] = sequences[index(j - 1)];
                    frameBytes[index(j)] = frameBytes[index(j - 1)];
                }
                frameBytes[first] = refusedBytes;
                dropFirst();
                return;
            }
        }
    }

    void storedUpTo(long sequence) {
        while (count > 0 && sequences[first] <= sequence) {
            dropFirst();
        }
    }

    private void dropFirst() {
        bytes -= frameBytes[first];
        first = index(1);
        count--;
    }

    private int index(int i) {
        return (first + i) % sequences.length;
    }
}
