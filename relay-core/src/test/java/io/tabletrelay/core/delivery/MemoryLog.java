package io.tabletrelay.core.delivery;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.Payload;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.EventLog;
import io.tabletrelay.core.store.EventTailer;
import io.tabletrelay.core.store.IdRange;
import io.tabletrelay.core.store.OldSegments;
import io.tabletrelay.core.store.StoreException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A log in the heap, with ids that can be made void or damaged, and a disk that can be made to refuse. */
final class MemoryLog implements EventLog {
    private final Map<Long, Payload> events = new HashMap<>();
    private final Set<Long> voids = new HashSet<>();
    private final Set<Long> damaged = new HashSet<>();
    private long last;
    boolean full;
    boolean cold;
    /** What lies above is not forced to disk yet. */
    long forcedUpTo = Long.MAX_VALUE;

    void append(String... texts) {
        for (String text : texts) {
            append(new EventGroup(List.of(payload(text)), null, 0));
        }
    }

    void appendVoid(int count) {
        for (int i = 0; i < count; i++) {
            voids.add(++last);
        }
    }

    void damage(long first, long lastLost) {
        for (long id = first; id <= lastLost; id++) {
            damaged.add(id);
        }
    }

    private Payload event(long id) {
        return Objects.requireNonNull(events.get(id));
    }

    static Payload payload(String text) {
        return new Payload("text/plain", Map.of(), ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
    }

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
        return Math.min(last, forcedUpTo);
    }

    @Override
    public long skipVoid(long id) {
        long live = id;
        while (voids.contains(live)) {
            live++;
        }
        return live;
    }

    @Override
    public long voidIds() {
        return voids.size();
    }

    @Override
    public long voidIdsAbove(long id) {
        return voids.stream().filter(v -> v > id).count();
    }

    @Override
    public long diskBytes() {
        return 0;
    }

    @Override
    public boolean hasRoomFor(EventGroup group) {
        return !full;
    }

    @Override
    public boolean lowOnRoom() {
        return false;
    }

    @Override
    public void allocateAhead() {}

    @Override
    public void makeRoomFor(EventGroup group) {
        throw new StoreException(ErrorCode.STORAGE_FULL, "no space left");
    }

    @Override
    public long append(EventGroup group) {
        long first = last + 1;
        group.payloads().forEach(payload -> events.put(++last, payload));
        return first;
    }

    @Override
    public void force() {}

    @Override
    public @Nullable IdRange voidUncovered() {
        return null;
    }

    @Override
    public long lastSequence(String producer) {
        return 0;
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
        return new Tailer();
    }

    @Override
    public boolean hasDeleted() {
        return false;
    }

    @Override
    public OldSegments oldSegments() {
        throw new UnsupportedOperationException("this log keeps everything");
    }

    @Override
    public void checkFiles() {}

    @Override
    public void close() {}

    private final class Tailer implements EventTailer {
        private long next = 1;
        private long id;
        private long lastLost;

        @Override
        public void moveTo(long newId) {
            next = newId;
        }

        @Override
        public void open() {
            cold = false;
        }

        @Override
        public Step next() {
            if (cold) {
                return Step.OPENING;
            }
            id = skipVoid(next);
            if (id > durableId()) {
                next = id;
                return Step.END;
            }
            lastLost = id;
            if (damaged.contains(id)) {
                while (damaged.contains(lastLost + 1)) {
                    lastLost++;
                }
                next = lastLost + 1;
                return Step.DAMAGED;
            }
            next = id + 1;
            return Step.EVENT;
        }

        @Override
        public long id() {
            return id;
        }

        @Override
        public long lastId() {
            return lastLost;
        }

        @Override
        public long appendedAtMillis() {
            return 0;
        }

        @Override
        public ByteBuffer payload() {
            return event(id).bytes().asReadOnlyBuffer();
        }

        @Override
        public String contentType() {
            return event(id).contentType();
        }

        @Override
        public Map<String, String> headers() {
            return event(id).headers();
        }

        @Override
        public @Nullable String header(String name) {
            return headers().get(name);
        }

        @Override
        public void close() {}
    }
}
