package io.tabletrelay.core.store.log;

import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.core.config.OnDamage;
import io.tabletrelay.core.store.EventTailer;
import io.tabletrelay.core.store.IdRange;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds the ids of a publish that was stored long ago. The headers of the segments say which one may have it, so that one
 * segment at most is read.
 *
 * <p>Threading: confined to the I/O thread that made it.
 */
final class PublishSearch {
    private final ChronicleEventLog log;
    private final StoredRecord record;

    PublishSearch(ChronicleEventLog log, StoredRecord record) {
        this.log = log;
        this.record = record;
    }

    /** Null: none of its events is kept. */
    @Nullable
    IdRange find(ProducerSequence sequence) {
        List<Segment> all = log.segments();
        for (int i = all.size() - 1; i >= 0; i--) {
            if (startsBefore(all.get(i), sequence)) {
                return findIn(all.get(i), sequence);
            }
        }
        return null;
    }

    /** True if the publish cannot be in a segment before this one. */
    private static boolean startsBefore(Segment segment, ProducerSequence sequence) {
        try {
            SegmentHeader header = segment.folder().header();
            return header != null
                    && header.producers().stream()
                            .noneMatch(entry -> entry.producer().equals(sequence.producer())
                                    && entry.sequence() >= sequence.sequence());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private @Nullable IdRange findIn(Segment segment, ProducerSequence sequence) {
        try (EventTailer tailer = new ChronicleEventTailer(log, record, OnDamage.SKIP)) {
            tailer.moveTo(segment.firstId());
            EventTailer.Step step = tailer.nextOpened();
            while (step != EventTailer.Step.END && tailer.id() <= segment.lastId()) {
                if (step == EventTailer.Step.EVENT
                        && record.producerSequence() == sequence.sequence()
                        && record.producer().equals(sequence.producer())) {
                    long first = record.id() - record.member() + 1;
                    return new IdRange(first, first + record.groupSize() - 1);
                }
                step = tailer.nextOpened();
            }
            return null;
        }
    }
}
