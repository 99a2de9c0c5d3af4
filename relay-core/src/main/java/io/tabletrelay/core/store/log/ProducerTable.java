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
 * The last publishes of each producer that said which they were: of the 10,000 producers used last, for 7 days. The last
 * one outlives the segment it is in; of those before it up to {@value #PUBLISHES} are known while this log is open, and after
 * an open those in the newest segment.
 *
 * <p>Threading: changed by the pipe's transfer thread; read by an I/O thread only while nothing is appended.
 */
final class ProducerTable {
    static final int CAPACITY = 10_000;
    static final int PUBLISHES = 64;
    static final long FORGOTTEN_AFTER_MILLIS = Duration.ofDays(7).toMillis();

    /** One producer's last stored publish. */
    record Entry(String producer, long sequence, IdRange ids, long lastUsedMillis) {}

    /** Least recently used first: a producer is taken out and put back when it publishes. */
    private final Map<String, Producer> producers = new LinkedHashMap<>();

    /** Returns what was that producer's last publish before, or null. */
    @Nullable
    Entry stored(Entry entry) {
        Producer producer = producers.remove(entry.producer());
        Entry before = producer == null ? null : producer.last;
        if (producer == null) {
            producer = new Producer(entry);
        }
        producer.stored(entry);
        producers.put(entry.producer(), producer);
        if (producers.size() > CAPACITY) {
            Iterator<String> oldest = producers.keySet().iterator();
            oldest.next();
            oldest.remove();
        }
        return before;
    }

    /** That producer's last publish is void: the one before it is its last one again, or it has none. */
    void takeBack(String producer, @Nullable Entry before) {
        producers.remove(producer);
        if (before != null) {
            stored(before);
        }
    }

    /** The highest sequence stored for that producer; 0: none is remembered. */
    long lastSequence(String producer) {
        Producer known = producers.get(producer);
        return known == null ? 0 : known.last.sequence();
    }

    /** The ids of this very publish, if it is one of its producer's last. */
    @Nullable
    IdRange idsOf(ProducerSequence sequence) {
        Producer producer = producers.get(sequence.producer());
        return producer == null ? null : producer.idsOf(sequence.sequence());
    }

    /** The last publish of those used in the last 7 days, least recently used first. */
    List<Entry> remembered(long nowMillis) {
        return producers.values().stream()
                .map(producer -> producer.last)
                .filter(entry -> entry.lastUsedMillis() > nowMillis - FORGOTTEN_AFTER_MILLIS)
                .toList();
    }

    /** A producer's last publish, and the ids of the ones before it without a gap, in a ring that grows with them. */
    private static final class Producer {
        private Entry last;
        private int known;
        private long[] ids = new long[2];

        Producer(Entry first) {
            last = first;
        }

        void stored(Entry entry) {
            if (known == 0 || entry.sequence() != last.sequence() + 1) {
                known = 0;
            } else if (known == ids.length / 2 && known < PUBLISHES) {
                grow();
            }
            known = Math.min(known + 1, ids.length / 2);
            last = entry;
            int at = indexOf(entry.sequence(), ids);
            ids[at] = entry.ids().first();
            ids[at + 1] = entry.ids().last();
        }

        @Nullable
        IdRange idsOf(long sequence) {
            if (sequence > last.sequence() || sequence <= last.sequence() - known) {
                return null;
            }
            int at = indexOf(sequence, ids);
            return new IdRange(ids[at], ids[at + 1]);
        }

        private void grow() {
            long[] larger = new long[2 * ids.length];
            for (long sequence = last.sequence() - known + 1; sequence <= last.sequence(); sequence++) {
                int from = indexOf(sequence, ids);
                System.arraycopy(ids, from, larger, indexOf(sequence, larger), 2);
            }
            ids = larger;
        }

        private static int indexOf(long sequence, long[] ring) {
            return 2 * (int) (sequence % (ring.length / 2));
        }
    }
}
