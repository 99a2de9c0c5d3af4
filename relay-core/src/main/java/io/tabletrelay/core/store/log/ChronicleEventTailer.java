package io.tabletrelay.core.store.log;

import io.tabletrelay.core.store.EventTailer;
import java.nio.ByteBuffer;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads a Chronicle log in id order. The ids say what must be there: whatever is missing before the log's last id is
 * damage, and is reported as such, never waited for and never passed over in silence.
 *
 * <p>Threading: as {@link EventTailer} says.
 */
final class ChronicleEventTailer implements EventTailer {
    private static final Logger LOG = LoggerFactory.getLogger(ChronicleEventTailer.class);

    private final ChronicleEventLog log;
    private final StoredRecord record;
    private @Nullable Segment segment;
    private @Nullable SegmentCursor cursor;
    private boolean recordIsNext;
    private long nextId = 1;
    private long firstFoundId;
    private long lastFoundId;

    ChronicleEventTailer(ChronicleEventLog log, StoredRecord record) {
        this.log = log;
        this.record = record;
    }

    @Override
    public void moveTo(long id) {
        recordIsNext = recordIsNext && id == nextId;
        nextId = id;
    }

    @Override
    public Step next() {
        Segment current = segment;
        if (current == null || !current.contains(nextId)) {
            nextId = log.skipVoid(nextId);
            if (nextId > log.durableId()) {
                return Step.END;
            }
            current = enter(log.segmentOf(nextId));
        }
        if (cursor == null && !enterIfOpen(current)) {
            return Step.OPENING;
        }
        long foundId = foundId(current);
        firstFoundId = nextId;
        recordIsNext = foundId > nextId;
        if (foundId == nextId) {
            lastFoundId = nextId++;
            return Step.EVENT;
        }
        lastFoundId = foundId < 0 ? current.lastId() : foundId - 1;
        nextId = lastFoundId + 1;
        LOG.error(
                "events are damaged: segment={}, ids={} to {}; skipped",
                current.folder().path(),
                firstFoundId,
                lastFoundId);
        return Step.DAMAGED;
    }

    @Override
    public long id() {
        return firstFoundId;
    }

    @Override
    public long lastId() {
        return lastFoundId;
    }

    @Override
    public long appendedAtMillis() {
        return record.appendedAtMillis();
    }

    @Override
    public ByteBuffer payload() {
        return record.payload();
    }

    @Override
    public String contentType() {
        return record.contentType();
    }

    @Override
    public Map<String, String> headers() {
        return record.headers();
    }

    @Override
    public void close() {
        leave();
    }

    private long foundId(Segment current) {
        if (recordIsNext && record.isHeld()) {
            return nextId;
        }
        return cursor == null ? -1 : cursor.read(nextId, current.lastId());
    }

    @Override
    public void open() {
        Segment current = segment;
        if (current != null && cursor == null) {
            cursor = new SegmentCursor(current, record);
        }
    }

    private Segment enter(Segment next) {
        if (next != segment) {
            leave();
            segment = next;
        }
        return next;
    }

    /** A segment that somebody has open is entered without touching the disk. */
    private boolean enterIfOpen(Segment next) {
        SegmentQueue queue = next.queue();
        if (queue != null && !queue.isOpen()) {
            return false;
        }
        cursor = new SegmentCursor(next, record);
        return true;
    }

    private void leave() {
        SegmentCursor open = cursor;
        cursor = null;
        segment = null;
        recordIsNext = false;
        if (open != null) {
            open.close();
        }
    }
}
