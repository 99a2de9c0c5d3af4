package io.tabletrelay.core.store.log;

import io.tabletrelay.core.config.OnDamage;
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
    private final OnDamage onDamage;
    private @Nullable Segment segment;
    private @Nullable SegmentCursor cursor;
    private long nextId = 1;
    private long firstFoundId;
    private long lastFoundId;
    /** Where the segment ended when its next event could not be read: what is appended later need not be searched for. */
    private long searchUpTo;
    /** {@link #open} is wanted, or under way. */
    private volatile boolean opening;

    ChronicleEventTailer(ChronicleEventLog log, StoredRecord record, OnDamage onDamage) {
        this.log = log;
        this.record = record;
        this.onDamage = onDamage;
    }

    @Override
    public void moveTo(long id) {
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
        SegmentCursor open = cursor == null ? enterIfOpen(current) : cursor;
        long foundId = open == null ? SegmentCursor.UNKNOWN : open.read(nextId);
        if (foundId == SegmentCursor.UNKNOWN) {
            searchUpTo = current.lastId();
            opening = true;
            return Step.OPENING;
        }
        firstFoundId = nextId;
        if (foundId == nextId) {
            lastFoundId = nextId++;
            return Step.EVENT;
        }
        if (onDamage == OnDamage.STOP) {
            throw log.lost(current, nextId, foundId - 1).stopped();
        }
        lastFoundId = foundId - 1;
        nextId = lastFoundId + 1;
        log.damagedIn(current);
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
    public @Nullable String header(String name) {
        return record.header(name);
    }

    @Override
    public void close() {
        leave();
        log.closed(this);
    }

    @Override
    public void open() {
        try {
            Segment current = segment;
            SegmentCursor open = cursor;
            if (open != null) {
                open.search(nextId, searchUpTo);
            } else if (current != null) {
                cursor = new SegmentCursor(current, record);
            }
        } finally {
            opening = false;
        }
    }

    /** The first id of the segment that is being opened for it; Long.MAX_VALUE if none is. */
    long openingFrom() {
        Segment current = segment;
        return opening && current != null ? current.firstId() : Long.MAX_VALUE;
    }

    /** Closes what it has open of a segment that ends at or below this id; the next step opens what it needs again. */
    void leaveUpTo(long id) {
        Segment current = segment;
        if (current != null && current.lastId() <= id) {
            leave();
        }
    }

    private Segment enter(Segment next) {
        if (next != segment) {
            leave();
            segment = next;
        }
        return next;
    }

    /** A segment that somebody has open is entered without touching the disk; null: nobody has. */
    private @Nullable SegmentCursor enterIfOpen(Segment next) {
        SegmentQueue queue = next.queue();
        if (queue == null || queue.isOpen()) {
            cursor = new SegmentCursor(next, record);
        }
        return cursor;
    }

    private void leave() {
        SegmentCursor open = cursor;
        cursor = null;
        segment = null;
        if (open != null) {
            open.close();
        }
    }
}
