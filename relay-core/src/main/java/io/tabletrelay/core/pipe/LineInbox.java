package io.tabletrelay.core.pipe;

import java.util.HashSet;
import java.util.Set;

/**
 * Lines of one connection that wait for the transfer thread, in the order in which they came; acks in a row are merged.
 *
 * <p>A connection can only mean ids that it or its predecessor had in its window. When more distinct lines than two of the
 * largest windows wait, the rest cannot be real and is dropped.
 *
 * <p>Threading: thread-safe by its lock.
 */
final class LineInbox {
    private static final int MOST = 2 * 65_536;

    private SaidLines lines = new SaidLines();

    /** Returns true if the inbox was empty: the transfer thread must be told. */
    boolean add(SaidLines.Verb verb, long first, long second) {
        return add(verb, first, second, "");
    }

    /** The same with a reason. */
    synchronized boolean add(SaidLines.Verb verb, long first, long second, String reason) {
        if (lines.merge(verb, first, second)) {
            return false;
        }
        if (lines.size() == MOST) {
            lines = withoutRepeats();
        }
        if (lines.size() == MOST) {
            return false;
        }
        boolean wasEmpty = lines.isEmpty();
        lines.add(verb, first, second, reason);
        return wasEmpty;
    }

    /** The window, which counts beside all lines; what was said of it before does not count any more. */
    synchronized boolean window(int events) {
        boolean wasEmpty = lines.isEmpty();
        lines.window(events);
        return wasEmpty;
    }

    /** Takes all lines, in the order in which they came. */
    synchronized SaidLines takeAll() {
        SaidLines taken = lines;
        lines = new SaidLines();
        return taken;
    }

    private record Line(SaidLines.Verb verb, long first, long second) {}

    /** Keeps the first of each line: an ack settles whatever follows it, and a second refusal of a delivery is void. */
    private SaidLines withoutRepeats() {
        Set<Line> seen = new HashSet<>();
        SaidLines kept = new SaidLines();
        kept.window(lines.window());
        for (int i = 0; i < lines.size(); i++) {
            if (seen.add(new Line(lines.verb(i), lines.first(i), lines.second(i)))) {
                kept.add(lines.verb(i), lines.first(i), lines.second(i), lines.reason(i));
            }
        }
        return kept;
    }
}
