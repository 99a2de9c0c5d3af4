package io.tabletrelay.core.server;

import io.tabletrelay.api.PipeName;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Who was cut off as a slow consumer again and again: each return costs a window of events that go out for nothing, so it
 * must wait, from the second time on, 5 s, 10 s and so on up to 5 min. After ten minutes without a cut all is forgotten.
 *
 * <p>A consumer is told apart by its pipe and its address without the port.
 *
 * <p>Threading: thread-safe by its monitor.
 */
final class SlowConsumers {
    static final int MOST_REMEMBERED = 10_000;

    private static final int CUTS_WITHOUT_WAIT = 1;
    private static final long FIRST_WAIT_NANOS = 5_000_000_000L;
    private static final long LONGEST_WAIT_NANOS = 300_000_000_000L;
    private static final long FORGOTTEN_AFTER_NANOS = 600_000_000_000L;
    private static final int MOST_DOUBLINGS = 10;

    private record Key(PipeName pipe, String host) {}

    private record Cuts(int count, long lastNanos) {
        long waitNanos() {
            return count <= CUTS_WITHOUT_WAIT
                    ? 0
                    : Math.min(
                            LONGEST_WAIT_NANOS,
                            FIRST_WAIT_NANOS << Math.min(MOST_DOUBLINGS, count - CUTS_WITHOUT_WAIT - 1));
        }
    }

    /** What is said to one that comes too early. */
    record Refusal(int cuts, long waitNanos) {}

    /** In the order of their last cuts, so that the oldest goes first. */
    private final Map<Key, Cuts> cuts = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, Cuts> eldest) {
            return size() > MOST_REMEMBERED;
        }
    };

    synchronized void cut(PipeName pipe, String host, long nowNanos) {
        Key key = new Key(pipe, host);
        Cuts before = cuts.remove(key);
        int countBefore = before != null && nowNanos - before.lastNanos() <= FORGOTTEN_AFTER_NANOS ? before.count() : 0;
        cuts.put(key, new Cuts(countBefore + 1, nowNanos));
    }

    /** How long this one must still wait before it may bind; a wait of 0 or less: not at all. */
    synchronized Refusal refusal(PipeName pipe, String host, long nowNanos) {
        Cuts known = cuts.get(new Key(pipe, host));
        return known == null
                ? new Refusal(0, 0)
                : new Refusal(known.count(), known.lastNanos() + known.waitNanos() - nowNanos);
    }
}
