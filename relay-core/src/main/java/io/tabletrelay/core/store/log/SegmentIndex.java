package io.tabletrelay.core.store.log;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Chronicle's index in a segment's file, of which Chronicle believes everything: a place far out of the file fills the
 * memory with a list of what lies between, and from a place where no record begins it jumps out of what is mapped.
 *
 * <pre>
 * page, little-endian: word | name, padding | slots i64, always 1024 | slots in use i64 | slots
 * a slot of the index of indexes is where an index page begins, a slot of an index where every 32nd record does; 0: unused
 * </pre>
 *
 * <p>Threading: confined to the thread that uses it.
 */
final class SegmentIndex {
    /** Where the index of indexes begins, behind Chronicle's header. */
    private static final int INDEX_OF_INDEXES = 0xC8;

    private static final int SLOTS_BYTES = SegmentQueue.INDEX_COUNT * Long.BYTES;
    private static final int COUNTS_BYTES = 2 * Long.BYTES;

    /** A page's word, name and padding, at most. */
    private static final int MOST_NAME_BYTES = 64;

    private static final int OWN_BIT = 0x4000_0000;

    private final FileChannel channel;
    private final long firstId;
    private final ByteBuffer start = ByteBuffer.allocate(Integer.BYTES + RecordFormat.ID_OFFSET + Long.BYTES);

    private SegmentIndex(FileChannel channel, long firstId) {
        this.channel = channel;
        this.firstId = firstId;
    }

    /** False if some page is none, or some slot points at another record than it should. Reads all pages. */
    static boolean isSound(Path file, long firstId) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            return new SegmentIndex(channel, firstId).isSound();
        }
    }

    private boolean isSound() throws IOException {
        ByteBuffer pages = ByteBuffer.allocate(SLOTS_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        ByteBuffer slots = ByteBuffer.allocate(SLOTS_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        boolean sound = readSlots(INDEX_OF_INDEXES, pages);
        for (int page = 0; sound && page < SegmentQueue.INDEX_COUNT; page++) {
            long position = pages.getLong(page * Long.BYTES);
            sound = position == 0 || (readSlots(position, slots) && pointAtTheirRecords(slots, page));
        }
        return sound;
    }

    private boolean readSlots(long page, ByteBuffer slots) throws IOException {
        int word = page < 0 ? 0 : SegmentFile.wordAt(channel, page);
        int bytes = word & ~OWN_BIT;
        boolean isPage = word > 0
                && word != bytes
                && bytes >= COUNTS_BYTES + SLOTS_BYTES
                && bytes <= MOST_NAME_BYTES + COUNTS_BYTES + SLOTS_BYTES;
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
            if (position != 0 && !isRecord(position, number)) {
                return false;
            }
        }
        return true;
    }

    /** Number 0 is the segment's header, number 1 its first event. */
    private boolean isRecord(long position, long number) throws IOException {
        if (position < 0 || channel.read(start.clear(), position) < start.capacity()) {
            return false;
        }
        int kind = number == 0 ? RecordFormat.SEGMENT_HEADER : RecordFormat.EVENT;
        long id = number == 0 ? firstId : firstId + number - 1;
        return start.get(Integer.BYTES) == RecordFormat.VERSION
                && start.get(Integer.BYTES + 1) == kind
                && start.getLong(Integer.BYTES + RecordFormat.ID_OFFSET) == id;
    }
}
