package io.tabletrelay.core.store.log;

import io.tabletrelay.core.store.log.SegmentFolder.State;
import java.io.IOException;
import java.io.Serial;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * A segment's file as bytes: what must be known of it before Chronicle may open it, or can be known without.
 *
 * <pre>
 * Chronicle's file: word, header | word, index of indexes | word, first index | word, segment header | word, event | …
 * word, little-endian, at a multiple of 4: length in 30 bits, bit 30 for Chronicle's own, bit 31 while unfinished; 0: the end
 * </pre>
 *
 * <p>Threading: immutable.
 */
final class SegmentFile {
    /** Where a segment's first record begins; before it is what Chronicle writes while the file is born. */
    static final int BIRTH_BYTES = 16_656;

    /** Fields of Chronicle's header: where the last record begins, its number, and which number is indexed next. */
    private static final int LAST_POSITION_OFFSET = 0x40;

    private static final int LAST_SEQUENCE_OFFSET = 0x48;
    private static final int LAST_INDEXED_OFFSET = 0xB0;
    /** Chronicle's header, without its word; the index of indexes follows. */
    static final int HEADER_BYTES = 0xC4;

    /** In the word of a record of Chronicle's own. */
    static final int OWN_BIT = 0x4000_0000;

    private static final int LENGTH_BITS = 0x3FFF_FFFF;
    private static final int MOST_OWN_RECORDS = 8;

    private SegmentFile() {}

    /** Chronicle's own records at the file's start are damaged. */
    private static final class NoFirstRecordException extends IOException {
        @Serial
        private static final long serialVersionUID = 1L;

        NoFirstRecordException() {
            super("no first record");
        }
    }

    static State inspect(Path file, LogLimits limits) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            if (channel.size() < BIRTH_BYTES) {
                return channel.size() == 0 ? State.MISSING : State.SEARCHABLE;
            }
            int first = wordAt(channel, 0);
            boolean ready = first > 0 && (first & OWN_BIT) != 0;
            boolean wholeBlocks = channel.size() == lengthFor(channel.size() - 1, limits);
            return ready && wholeBlocks ? State.READABLE : State.SEARCHABLE;
        }
    }

    /** How long Chronicle makes a file that has a byte at that position: what is mapped must be there. */
    static long lengthFor(long position, LogLimits limits) {
        long overlapBytes = limits.blockBytes() / 4;
        long blocks = Math.max(1, (position - overlapBytes) / limits.blockBytes() + 1);
        return blocks * limits.blockBytes() + overlapBytes;
    }

    /** How many records Chronicle's header says there are, the segment's header included; 0: it does not, or was cut. */
    static long knownRecords(Path file) throws IOException {
        if (Files.size(file) < BIRTH_BYTES) {
            return 0;
        }
        try (SegmentBytes bytes = SegmentBytes.open(file)) {
            return bytes.wordAt(LAST_POSITION_OFFSET) == 0
                    ? 0
                    : Integer.toUnsignedLong(bytes.wordAt(LAST_SEQUENCE_OFFSET)) + 1;
        }
    }

    /** The checksum of what never changes in Chronicle's header once the file is born. */
    static int birthChecksum(FileChannel channel) throws IOException {
        ByteBuffer page = ByteBuffer.allocate(HEADER_BYTES);
        channel.read(page, 0);
        CRC32C crc = new CRC32C();
        crc.update(page.array(), 0, LAST_POSITION_OFFSET);
        crc.update(
                page.array(),
                LAST_SEQUENCE_OFFSET + Long.BYTES,
                LAST_INDEXED_OFFSET - LAST_SEQUENCE_OFFSET - Long.BYTES);
        crc.update(page.array(), LAST_INDEXED_OFFSET + Long.BYTES, HEADER_BYTES - LAST_INDEXED_OFFSET - Long.BYTES);
        return (int) crc.getValue();
    }

    /** True if Chronicle's header is as it was when the segment's own was written. */
    static boolean isAsBorn(Path file, SegmentHeader header) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            return birthChecksum(channel) == header.birthChecksum();
        }
    }

    /** True if bytes of the file are gone or its disk cannot read them; false if it only cannot be read now. */
    static boolean isLost(IOException e) {
        return e instanceof NoSuchFileException || e instanceof NoFirstRecordException || isUnreadable(e);
    }

    /** True if the disk cannot read those bytes. */
    static boolean isUnreadable(IOException e) {
        return Objects.requireNonNullElse(e.getMessage(), "").contains("Input/output error");
    }

    /** The segment's first record, or null if it is damaged. */
    static @Nullable SegmentHeader header(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            long position = firstRecordPosition(channel);
            int word = wordAt(channel, position);
            if (word <= 0 || word > SegmentHeader.MAX_BYTES) {
                return null;
            }
            ByteBuffer record = ByteBuffer.allocate(word);
            channel.read(record, position + Integer.BYTES);
            return SegmentHeader.parse(record.flip());
        } catch (IOException e) {
            if (isLost(e)) {
                return null;
            }
            throw e;
        }
    }

    /** Behind the header and the index pages that a file is born with. */
    static long firstRecordPosition(FileChannel channel) throws IOException {
        long position = 0;
        for (int i = 0; i < MOST_OWN_RECORDS; i++) {
            int word = wordAt(channel, position);
            if ((word & OWN_BIT) == 0) {
                return position;
            }
            position = next(position, word & LENGTH_BITS);
        }
        throw new NoFirstRecordException();
    }

    /** Where the record behind one of that many bytes begins. */
    static long next(long position, int bytes) {
        long end = position + Integer.BYTES + bytes;
        return end + (-end & (Integer.BYTES - 1));
    }

    /** 0 behind the file's end. */
    static int wordAt(FileChannel channel, long position) throws IOException {
        ByteBuffer word = ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        return channel.read(word, position) == Integer.BYTES ? word.getInt(0) : 0;
    }
}
