package io.tabletrelay.core.pipe;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.EventLog;
import io.tabletrelay.core.store.EventTailer;
import io.tabletrelay.core.store.ForceFailedException;
import io.tabletrelay.core.store.IdRange;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Numbers of a log, without events, on a disk that refuses when told.
 *
 * <p>Threading: confined to the test's thread.
 */
final class HandForcedLog implements EventLog {
    boolean broken;
    int births;
    private long last;
    private long durable;
    private long voids;
    private boolean hasSegment;
    private boolean lost;
    private final Map<String, Long> sequences = new HashMap<>();
    private Map<String, Long> durableSequences = Map.of();

    @Override
    public long firstId() {
        return 1;
    }

    @Override
    public long lastId() {
        return last;
    }

    @Override
    public long durableId() {
        return durable;
    }

    @Override
    public long skipVoid(long id) {
        return id;
    }

    @Override
    public long voidIds() {
        return voids;
    }

    @Override
    public long voidIdsAbove(long id) {
        return 0;
    }

    @Override
    public long diskBytes() {
        return 0;
    }

    @Override
    public boolean hasRoomFor(EventGroup group) {
        return hasSegment && !lost;
    }

    @Override
    public boolean lowOnRoom() {
        return false;
    }

    @Override
    public void allocateAhead() {}

    @Override
    public void makeRoomFor(EventGroup group) {
        refuseIfBroken();
        births++;
        hasSegment = true;
    }

    @Override
    public long append(EventGroup group) {
        long first = last + 1;
        last += group.size();
        ProducerSequence sequence = group.sequence();
        if (sequence != null) {
            sequences.put(sequence.producer(), sequence.sequence());
        }
        return first;
    }

    @Override
    public void force() {
        lost = broken;
        refuseIfBroken();
        durable = last;
        durableSequences = Map.copyOf(sequences);
    }

    private void refuseIfBroken() {
        if (broken) {
            throw ForceFailedException.of("log", Path.of("log"), new IOException("Input/output error"));
        }
    }

    @Override
    public @Nullable IdRange voidUncovered() {
        if (!lost) {
            return null;
        }
        IdRange range = new IdRange(durable + 1, last);
        voids += last - durable;
        durable = last;
        sequences.clear();
        sequences.putAll(durableSequences);
        lost = false;
        hasSegment = false;
        return range;
    }

    @Override
    public long lastSequence(String producer) {
        return sequences.getOrDefault(producer, 0L);
    }

    @Override
    public @Nullable IdRange idsOf(ProducerSequence sequence) {
        return null;
    }

    @Override
    public @Nullable IdRange findIdsOf(ProducerSequence sequence) {
        return null;
    }

    @Override
    public EventTailer openTailer() {
        throw new UnsupportedOperationException(ErrorCode.INTERNAL.name());
    }

    @Override
    public void close() {}
}
