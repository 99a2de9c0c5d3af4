package io.tabletrelay.core.store.log;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;

/**
 * Finds events in a damaged segment without Chronicle, whose reader ends at the first bad word: any place of the file that
 * has an event's bytes and its right checksum is an event. Only what is damaged itself is lost.
 *
 * <p>Threading: confined to the thread that uses it.
 */
final class SegmentSearch implements AutoCloseable {
    private static final int WINDOW_BYTES = 256 << 10;
    private static final int ID_OFFSET = Integer.BYTES + RecordFormat.ID_OFFSET;
    private static final int LEAST_BYTES = Integer.BYTES + RecordFormat.EVENT_PREFIX_BYTES;

    private final SegmentBytes file;
    private final StoredRecord record;
    private final ByteBuffer window =
            ByteBuffer.allocate(WINDOW_BYTES).order(ByteOrder.LITTLE_ENDIAN).limit(0);
    private long position = SegmentFile.BIRTH_BYTES;
    private int offset;
    private long foundPosition;

    /** What is found lies in the record. */
    SegmentSearch(Path file, StoredRecord record) throws IOException {
        this(SegmentBytes.open(file), record);
    }

    SegmentSearch(SegmentBytes file, StoredRecord record) {
        this.file = file;
        this.record = record;
    }

    /** What was appended since the last search will be seen. */
    void refresh() {
        position += offset;
        offset = 0;
        window.limit(0);
    }

    /**
     * Goes on to the next event with an id from first to last, and returns its id; -1 if there is none: then it stands where it
     * stood.
     */
    long find(long firstId, long lastId) throws IOException {
        long from = position + offset;
        while (firstId <= lastId && fill()) {
            for (; offset + LEAST_BYTES <= window.limit(); offset += Integer.BYTES) {
                if (mayBeEvent(offset, firstId, lastId) && isEvent(offset, firstId, lastId)) {
                    foundPosition = position + offset;
                    offset = (int) (SegmentFile.next(foundPosition, record.size()) - position);
                    return record.id();
                }
            }
        }
        position = from;
        offset = 0;
        window.limit(0);
        return -1;
    }

    /** The search goes on there, at a record that it has passed. */
    void goOnAt(long recordPosition) {
        position = recordPosition;
        offset = 0;
        window.limit(0);
    }

    /** Where the event that was found last lies. */
    long foundPosition() {
        return foundPosition;
    }

    /** Reads the event that was found there; false if it is not there any more. */
    boolean read(long foundPosition) throws IOException {
        int bytes = file.wordAt(foundPosition);
        return record.fits(bytes) && fill(record.prepare(bytes), foundPosition + Integer.BYTES) && record.isEvent();
    }

    /** True if Chronicle's own bytes say that nothing follows what was found last. */
    boolean atEnd() throws IOException {
        return file.wordAt(position + offset) <= 0;
    }

    /** False: the file has no more. */
    private boolean fill() throws IOException {
        if (offset + LEAST_BYTES <= window.limit()) {
            return true;
        }
        position += offset;
        offset = 0;
        boolean more = file.read(window.clear(), position) >= LEAST_BYTES;
        window.flip();
        return more;
    }

    @Override
    public void close() throws IOException {
        file.close();
    }

    private boolean mayBeEvent(int offset, long firstId, long lastId) {
        if (window.get(offset + Integer.BYTES) != RecordFormat.VERSION
                || window.get(offset + Integer.BYTES + 1) != RecordFormat.EVENT) {
            return false;
        }
        long id = Long.reverseBytes(window.getLong(offset + ID_OFFSET));
        return id >= firstId && id <= lastId;
    }

    private boolean isEvent(int offset, long firstId, long lastId) throws IOException {
        int bytes = window.getInt(offset);
        if (!record.fits(bytes)) {
            return false;
        }
        int inWindow = offset + Integer.BYTES;
        ByteBuffer target = record.prepare(bytes);
        if (inWindow + bytes <= window.limit()) {
            target.put(window.duplicate().limit(inWindow + bytes).position(inWindow));
        } else if (!fill(target, position + inWindow)) {
            return false;
        }
        return record.isEvent() && record.id() >= firstId && record.id() <= lastId;
    }

    /** False: the file ends before. The target is filled from its start. */
    private boolean fill(ByteBuffer target, long from) throws IOException {
        int bytes = target.remaining();
        return file.read(target, from) == bytes;
    }
}
