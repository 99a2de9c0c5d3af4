package io.tabletrelay.core.store.log;

import io.tabletrelay.core.store.SmallFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;

/**
 * The last word on a segment to which nothing will be appended any more, in a file {@code covered} of its folder: its events up
 * to this id are on disk, and what lies above counts no more. Written when a force failed, so that a kill before the next
 * segment is there brings back nothing that was refused; and when a segment is known to be whole on disk, so that the next open
 * need not force it. Without it nothing is wrong, so that it is never forced itself. Big-endian:
 *
 * <pre>
 * 0 id i64 | 8 first id of the segment i64 | 16 whole i32: 1 if nothing was ever appended above the id, else 0
 * 20 CRC32C i32 over all before
 * </pre>
 *
 * <p>Threading: immutable.
 */
record CoveredNote(long id, boolean whole) {
    /** There is no such note: all that is found counts, and none of it is known to be on disk. */
    static final CoveredNote NONE = new CoveredNote(Long.MAX_VALUE, true);

    private static final String NAME = "covered";
    private static final int WHOLE_OFFSET = 2 * Long.BYTES;
    private static final int CRC_OFFSET = WHOLE_OFFSET + Integer.BYTES;
    private static final int BYTES = CRC_OFFSET + Integer.BYTES;

    void write(SegmentFolder folder) throws IOException {
        ByteBuffer note =
                ByteBuffer.allocate(BYTES).putLong(id).putLong(folder.firstId()).putInt(whole ? 1 : 0);
        note.putInt(crc(note)).flip();
        try (FileChannel channel =
                FileChannel.open(file(folder), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            SmallFile.writeFully(channel, note, 0);
        }
    }

    /** {@link #NONE} if there is no note or a damaged one. */
    static CoveredNote read(SegmentFolder folder) throws IOException {
        Path file = file(folder);
        if (!Files.exists(file) || Files.size(file) != BYTES) {
            return NONE;
        }
        ByteBuffer note = ByteBuffer.wrap(Files.readAllBytes(file));
        boolean isWhole = note.getInt(CRC_OFFSET) == crc(note) && note.getLong(Long.BYTES) == folder.firstId();
        long id = note.getLong(0);
        return isWhole && id >= folder.firstId() - 1 ? new CoveredNote(id, note.getInt(WHOLE_OFFSET) == 1) : NONE;
    }

    private static Path file(SegmentFolder folder) {
        return folder.path().resolve(NAME);
    }

    private static int crc(ByteBuffer note) {
        CRC32C crc = new CRC32C();
        crc.update(note.duplicate().position(0).limit(CRC_OFFSET));
        return (int) crc.getValue();
    }
}
