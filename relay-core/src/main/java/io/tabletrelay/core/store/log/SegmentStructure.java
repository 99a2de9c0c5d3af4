package io.tabletrelay.core.store.log;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * What Chronicle believes of a segment's file without asking: the words that say where the next record begins, and the index.
 * A word or a place far out of the file fills the memory with a list of what lies between, or makes Chronicle jump out of what
 * is mapped.
 *
 * <pre>
 * page, little-endian: word | name, padding | slots i64, always 1024 | slots in use i64 | slots
 * a slot of the index of indexes is where an index page begins, a slot of an index where every 32nd record does; 0: unused
 * </pre>
 *
 * <p>Threading: confined to the thread that uses it.
 */
final class SegmentStructure {
    private static final int INDEX_OF_INDEXES = Integer.BYTES + SegmentFile.HEADER_BYTES;

    private static final int SLOTS_BYTES = SegmentQueue.INDEX_COUNT * Long.BYTES;
    private static final int COUNTS_BYTES = 2 * Long.BYTES;

    /** A page's word, name and padding, at most. */
    private static final int MOST_NAME_BYTES = 64;

    private static final int MOST_PAGE_BYTES = MOST_NAME_BYTES + COUNTS_BYTES + SLOTS_BYTES;

    private static final int WINDOW_BYTES = 256 << 10;

    private final FileChannel channel;
    private final long firstId;
    private final int maxRecordBytes;
    private final ByteBuffer start = ByteBuffer.allocate(Integer.BYTES + RecordFormat.ID_OFFSET + Long.BYTES)
            .order(ByteOrder.LITTLE_ENDIAN);
    private final ByteBuffer window =
            ByteBuffer.allocate(WINDOW_BYTES).order(ByteOrder.LITTLE_ENDIAN).limit(0);
    private long windowPosition;

    private SegmentStructure(FileChannel channel, long firstId, int maxRecordBytes) {
        this.channel = channel;
        this.firstId = firstId;
        this.maxRecordBytes = maxRecordBytes;
    }

    /**
     * False if some page is none, some slot points at another record than it should, or the words lead to something else than
     * the records one after the other. That they end early is no harm. Reads the whole file.
     */
    static boolean isSound(Path file, long firstId, int maxRecordBytes) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            SegmentStructure structure = new SegmentStructure(channel, firstId, maxRecordBytes);
            return structure.indexIsSound() && structure.wordsAreSound();
        }
    }

    private boolean indexIsSound() throws IOException {
        ByteBuffer pages = ByteBuffer.allocate(SLOTS_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        ByteBuffer slots = ByteBuffer.allocate(SLOTS_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        boolean sound = readSlots(INDEX_OF_INDEXES, pages);
        for (int page = 0; sound && page < SegmentQueue.INDEX_COUNT; page++) {
            long position = pages.getLong(page * Long.BYTES);
            sound = position == 0 || (readSlots(position, slots) && pointAtTheirRecords(slots, page));
        }
        return sound;
    }

    private boolean wordsAreSound() throws IOException {
        long position = SegmentFile.firstRecordPosition(channel);
        long number = 0;
        while (isInWindow(position)) {
            int at = (int) (position - windowPosition);
            int word = window.getInt(at);
            if (word <= 0) {
                return true;
            }
            boolean isIndexPage = (word & SegmentFile.OWN_BIT) != 0;
            int bytes = word & ~SegmentFile.OWN_BIT;
            int mostBytes = isIndexPage ? MOST_PAGE_BYTES : maxRecordBytes;
            if (bytes > mostBytes || (!isIndexPage && !isRecord(window, at, number++))) {
                return false;
            }
            position = SegmentFile.next(position, bytes);
        }
        return true;
    }

    /** False behind the file's end. */
    private boolean isInWindow(long position) throws IOException {
        if (position + start.capacity() > windowPosition + window.limit()) {
            channel.read(window.clear(), position);
            window.flip();
            windowPosition = position;
        }
        return position + start.capacity() <= windowPosition + window.limit();
    }

    private boolean readSlots(long page, ByteBuffer slots) throws IOException {
        int word = page < 0 ? 0 : SegmentFile.wordAt(channel, page);
        int bytes = word & ~SegmentFile.OWN_BIT;
        boolean isPage = word > 0 && word != bytes && bytes >= COUNTS_BYTES + SLOTS_BYTES && bytes <= MOST_PAGE_BYTES;
        if (!isPage) {
            return false;
        }
        long from = page + Integer.BYTES + bytes - SLOTS_BYTES;
        ByteBuffer counts = ByteBuffer.allocate(COUNTS_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        boolean isWhole = channel.read(counts, from - COUNTS_BYTES) == COUNTS_BYTES
                && channel.read(slots.clear(), from) == SLOTS_BYTES;
        long used = counts.getLong(Long.BYTES);
        return isWhole
                && counts.getLong(0) == SegmentQueue.INDEX_COUNT
                && used >= 0
                && used <= SegmentQueue.INDEX_COUNT;
    }

    private boolean pointAtTheirRecords(ByteBuffer slots, int page) throws IOException {
        for (int i = 0; i < SegmentQueue.INDEX_COUNT; i++) {
            long position = slots.getLong(i * Long.BYTES);
            long number = ((long) page * SegmentQueue.INDEX_COUNT + i) * SegmentQueue.INDEX_SPACING;
            if (position != 0 && !isRecordAt(position, number)) {
                return false;
            }
        }
        return true;
    }

    private boolean isRecordAt(long position, long number) throws IOException {
        return position > 0 && channel.read(start.clear(), position) == start.capacity() && isRecord(start, 0, number);
    }

    /** Number 0 is the segment's header, number 1 its first event. */
    private boolean isRecord(ByteBuffer bytes, int wordAt, long number) {
        int kind = number == 0 ? RecordFormat.SEGMENT_HEADER : RecordFormat.EVENT;
        long id = number == 0 ? firstId : firstId + number - 1;
        int record = wordAt + Integer.BYTES;
        return bytes.get(record) == RecordFormat.VERSION
                && bytes.get(record + 1) == kind
                && bytes.getLong(record + RecordFormat.ID_OFFSET) == Long.reverseBytes(id);
    }
}
