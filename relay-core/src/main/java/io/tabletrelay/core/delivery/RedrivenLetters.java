package io.tabletrelay.core.delivery;

import io.tabletrelay.api.Payload;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Dead letters on their way into the log of events, by one append.
 *
 * <p>Threading: filled by an I/O task, then used by the pipe's transfer thread.
 */
public final class RedrivenLetters {
    private final int most;
    private final long mostBytes;
    private final List<Long> numbers = new ArrayList<>();
    private final List<Payload> events = new ArrayList<>();
    private final Set<String> subscriptions = new HashSet<>();
    private long bytes;
    private int passed;
    private boolean more;

    /** One letter always fits, however large. */
    RedrivenLetters(int most, long mostBytes) {
        this.most = most;
        this.mostBytes = mostBytes;
    }

    /** Nothing is left of a letter's event. */
    void pass() {
        passed++;
    }

    /** False: the letter is for the next append. */
    boolean fits(int eventBytes) {
        more = !numbers.isEmpty() && (numbers.size() == most || bytes + eventBytes > mostBytes);
        return !more;
    }

    boolean add(DeadLetter letter, Payload event) {
        bytes += event.size();
        subscriptions.add(letter.subscription());
        numbers.add(letter.number());
        return events.add(event);
    }

    public List<Long> numbers() {
        return numbers;
    }

    /** One for each number. */
    public List<Payload> events() {
        return events;
    }

    /** Whose they are. */
    public Set<String> subscriptions() {
        return subscriptions;
    }

    /** What became of them; without events both ids are 0. */
    public HandledCount count(long firstId, long lastId) {
        return new HandledCount(numbers.size(), passed, firstId, lastId, more);
    }
}
