package io.tabletrelay.core.pipe;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * What a connection said, line by line.
 *
 * <p>Threading: confined to one thread at a time; handed over by its inbox.
 */
final class SaidLines {
    private static final int MOST_REASON_CHARS = 1 << 20;

    /** What a line means, with its two numbers. */
    enum Verb {
        /** First and last id. */
        ACK,
        /** The id up to which. */
        ACK_UP_TO,
        /** The id, and a delay in milliseconds. */
        NACK,
        TERM,
        HOLD
    }

    /** No window was said. */
    static final int NO_WINDOW = -1;

    private Verb[] verbs = new Verb[16];
    private long[] firsts = new long[16];
    private long[] seconds = new long[16];
    private final Map<Integer, String> reasons = new HashMap<>(0);
    private int reasonChars;
    private int size;
    private int window = NO_WINDOW;

    /** The window that was said last, or {@link #NO_WINDOW}. */
    int window() {
        return window;
    }

    void window(int events) {
        window = events;
    }

    boolean isEmpty() {
        return size == 0 && window == NO_WINDOW;
    }

    int size() {
        return size;
    }

    Verb verb(int line) {
        return verbs[line];
    }

    long first(int line) {
        return firsts[line];
    }

    long second(int line) {
        return seconds[line];
    }

    /** Empty if there was none, or if there were so many that they are not kept. */
    String reason(int line) {
        return reasons.getOrDefault(line, "");
    }

    /** Returns true if the line before says it as well now. */
    boolean merge(Verb verb, long first, long second) {
        int last = size - 1;
        if (last < 0 || verbs[last] != verb) {
            return false;
        }
        switch (verb) {
            case ACK -> {
                if (first < firsts[last] || first > seconds[last] + 1) {
                    return false;
                }
                seconds[last] = Math.max(seconds[last], second);
            }
            case ACK_UP_TO -> firsts[last] = Math.max(firsts[last], first);
            default -> {
                return false;
            }
        }
        return true;
    }

    void add(Verb verb, long first, long second, String reason) {
        if (size == verbs.length) {
            verbs = Arrays.copyOf(verbs, 2 * size);
            firsts = Arrays.copyOf(firsts, 2 * size);
            seconds = Arrays.copyOf(seconds, 2 * size);
        }
        if (!reason.isEmpty() && reasonChars + reason.length() <= MOST_REASON_CHARS) {
            reasons.put(size, reason);
            reasonChars += reason.length();
        }
        verbs[size] = verb;
        firsts[size] = first;
        seconds[size++] = second;
    }
}
