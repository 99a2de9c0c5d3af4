package io.tabletrelay.core.store.acks;

import io.tabletrelay.core.store.SmallFile;
import io.tabletrelay.core.store.log.MappedMemory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * One settled-ids file, mapped; {@link SettledFormat} says which byte is what.
 *
 * <p>Threading: created by an I/O thread; words and {@link #deliveredUpTo} are used by the pipe's transfer thread alone,
 * {@link #settledBelow} and the forces by I/O threads, one at a time.
 */
final class SettledFile {
    private static final int CHUNK_BYTES = 1 << 16;

    private final MappedByteBuffer map;
    private final int words;
    private final TwinLong deliveredUpTo;
    private final TwinLong settledBelow;

    private SettledFile(MappedByteBuffer map) {
        this.map = map;
        this.words = SettledFormat.words(map.capacity());
        this.deliveredUpTo = TwinLong.read(map, SettledFormat.DELIVERED_AT);
        this.settledBelow = TwinLong.read(map, SettledFormat.SETTLED_BELOW_AT);
    }

    /** Writes every byte of a new file and forces it, so that no later store can find the disk full. */
    static SettledFile create(Path file, int fileBytes, long settledBelow, long deliveredUpTo) throws IOException {
        try (FileChannel channel = FileChannel.open(
                file,
                StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
            SmallFile.writeFully(channel, header(fileBytes, settledBelow, deliveredUpTo), 0);
            for (int at = SettledFormat.HEADER_BYTES; at < fileBytes; at += CHUNK_BYTES) {
                SmallFile.writeFully(channel, ByteBuffer.allocate(Math.min(CHUNK_BYTES, fileBytes - at)), at);
            }
            channel.force(true);
            return new SettledFile(channel.map(FileChannel.MapMode.READ_WRITE, 0, fileBytes));
        } catch (IOException e) {
            SmallFile.deleteQuietly(file, e);
            throw e;
        }
    }

    private static ByteBuffer header(int fileBytes, long settledBelow, long deliveredUpTo) {
        ByteBuffer header =
                ByteBuffer.allocateDirect(SettledFormat.HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        header.putLong(SettledFormat.MAGIC_AT, SettledFormat.MAGIC);
        header.putLong(SettledFormat.SIZE_AT, fileBytes);
        header.putLong(SettledFormat.SIZE_CHECK_AT, SettledFormat.headerCheck(fileBytes, SettledFormat.SIZE_AT));
        TwinLong.init(header, SettledFormat.DELIVERED_AT, deliveredUpTo);
        TwinLong.init(header, SettledFormat.SETTLED_BELOW_AT, settledBelow);
        return header;
    }

    /** Returns null for a file whose size or header is damaged. */
    static @Nullable SettledFile open(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            long size = channel.size();
            if (size < SettledFormat.FIRST_BYTES || size > 1 << 30 || Long.bitCount(size) != 1) {
                return null;
            }
            MappedByteBuffer map = channel.map(FileChannel.MapMode.READ_WRITE, 0, size);
            return isWhole(map.order(ByteOrder.LITTLE_ENDIAN), size) ? new SettledFile(map) : null;
        }
    }

    private static boolean isWhole(ByteBuffer map, long size) {
        return map.getLong(SettledFormat.MAGIC_AT) == SettledFormat.MAGIC
                && map.getLong(SettledFormat.SIZE_AT) == size
                && map.getLong(SettledFormat.SIZE_CHECK_AT) == SettledFormat.headerCheck(size, SettledFormat.SIZE_AT)
                && TwinLong.isReadable(map, SettledFormat.DELIVERED_AT)
                && TwinLong.isReadable(map, SettledFormat.SETTLED_BELOW_AT);
    }

    int fileBytes() {
        return map.capacity();
    }

    int words() {
        return words;
    }

    TwinLong deliveredUpTo() {
        return deliveredUpTo;
    }

    TwinLong settledBelow() {
        return settledBelow;
    }

    int bits(long block) {
        return SettledFormat.bits((long) TwinLong.LONGS.getAcquire(map, indexOf(block)), block);
    }

    /** One ordered store: a kill leaves the word as it was or as it shall be. */
    void put(long block, int bits) {
        TwinLong.LONGS.setRelease(map, indexOf(block), SettledFormat.word(block, bits));
    }

    private int indexOf(long block) {
        return SettledFormat.HEADER_BYTES + (int) (block % words) * Long.BYTES;
    }

    /** Afterwards nobody may touch it. */
    void close() {
        MappedMemory.unmap(map);
    }

    void force() throws IOException {
        force(map.capacity());
    }

    void forceHeader() throws IOException {
        force(SettledFormat.HEADER_BYTES);
    }

    private void force(int bytes) throws IOException {
        try {
            map.force(0, bytes);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }
}
