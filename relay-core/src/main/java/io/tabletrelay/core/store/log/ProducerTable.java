package io.tabletrelay.core.store.log;

import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.core.store.IdRange;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The last publish of each producer that said which it was: the 10,000 used last, for 7 days.
 *
 * <p>Threading: changed by the pipe's transfer thread; read by an I/O thread only while nothing is appended.
 */
final class ProducerTable {
    static final int CAPACITY = 10_000;
    static final long FORGOTTEN_AFTER_MILLIS = Duration.ofDays(7).toMillis();

    /** One producer's last stored publish. */
    record Entry(String producer, long sequence, IdRange ids, long lastUsedMillis) {}

    /** Least recently used first: an entry is taken out and put back when it changes. */
    private final Map<String, Entry> entries = new LinkedHashMap<>();

    void stored(Entry entry) {
        entries.remove(entry.producer());
        entries.put(entry.producer(), entry);
        if (entries.size() > CAPACITY) {
            Iterator<String> oldest = entries.keySet().iterator();
            oldest.next();
            oldest.remove();
        }
    }

    /** The highest sequence stored for that producer; 0: none is remembered. */
    long lastSequence(String producer) {
        Entry entry = entries.get(producer);
        return entry == null ? 0 : entry.sequence();
    }

    /** The ids of this very publish, if it is its producer's last. */
    @Nullable
    IdRange idsOf(ProducerSequence sequence) {
        Entry entry = entries.get(sequence.producer());
        return entry != null && entry.sequence() == sequence.sequence() ? entry.ids() : null;
    }

    /** Those used in the last 7 days, least recently used first. */
    List<Entry> remembered(long nowMillis) {
        return entries.values().stream()
                .filter(entry -> entry.lastUsedMillis() > nowMillis - FORGOTTEN_AFTER_MILLIS)
                .toList();
    }
}
