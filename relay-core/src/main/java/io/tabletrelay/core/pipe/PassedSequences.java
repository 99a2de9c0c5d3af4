package io.tabletrelay.core.pipe;

import io.tabletrelay.api.ProducerSequence;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The last sequence of each producer that stored nothing; the producers that were here longest ago are forgotten.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 */
final class PassedSequences {
    private static final int MOST_PRODUCERS = 10_000;

    private final Map<String, Long> lastByProducer = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
            return size() > MOST_PRODUCERS;
        }
    };

    /** Returns what the producer had passed before; null: nothing. */
    @Nullable
    Long passed(ProducerSequence sequence) {
        return lastByProducer.put(sequence.producer(), sequence.sequence());
    }

    /** Goes back to what {@link #passed} returned. */
    void takeBack(String producer, @Nullable Long before) {
        lastByProducer.remove(producer);
        if (before != null) {
            lastByProducer.put(producer, before);
        }
    }

    /** 0: none. */
    long last(String producer) {
        return lastByProducer.getOrDefault(producer, 0L);
    }
}
