package io.tabletrelay.core.store.acks;

import io.tabletrelay.core.store.IdRange;
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
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One settled-ids file, mapped; {@link SettledFormat} says which byte is what.
 *
 * <p>Threading: created by an I/O thread; words, {@link #deliveredUpTo} and {@link #appendedUpTo} are used by the pipe's transfer thread alone,
 * {@link #settledBelow} and the forces by I/O threads, one at a time.
 */
final class SettledFile {
    private static final int CHUNK_BYTES = 1 << 16;
    private static final int PAGE_BYTES = 4 << 10;

    private final MappedByteBuffer map;
    private final int words;
    private final TwinLong deliveredUpTo;
    private final TwinLong settledBelow;
    private final TwinLong appendedUpTo;

    private SettledFile(MappedByteBuffer map) {
        this.map = map;
        this.words = SettledFormat.words(map.capacity());
        this.deliveredUpTo = TwinLong.read(map, SettledFormat.DELIVERED_AT);
        this.settledBelow = TwinLong.read(map, SettledFormat.SETTLED_BELOW_AT);
        this.appendedUpTo = TwinLong.read(map, SettledFormat.APPENDED_AT);
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
        TwinLong.init(header, SettledFormat.APPENDED_AT, deliveredUpTo);
        return header;
    }

    /** Returns null for a file whose size or header is damaged. */
    static @Nullable SettledFile open(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return open(channel, FileChannel.MapMode.READ_WRITE);
        }
    }

    /** The same, to be read only. */
    static @Nullable SettledFile look(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            return open(channel, FileChannel.MapMode.READ_ONLY);
        }
    }

    private static @Nullable SettledFile open(FileChannel channel, FileChannel.MapMode mode) throws IOException {
        long size = channel.size();
        if (size < SettledFormat.FIRST_BYTES || size > 1 << 30 || Long.bitCount(size) != 1) {
            return null;
        }
        MappedByteBuffer map = channel.map(mode, 0, size);
        return isWhole(map.order(ByteOrder.LITTLE_ENDIAN), size) ? new SettledFile(map) : null;
    }

    private static boolean isWhole(ByteBuffer map, long size) {
        return map.getLong(SettledFormat.MAGIC_AT) == SettledFormat.MAGIC
                && map.getLong(SettledFormat.SIZE_AT) == size
                && map.getLong(SettledFormat.SIZE_CHECK_AT) == SettledFormat.headerCheck(size, SettledFormat.SIZE_AT)
                && TwinLong.isReadable(map, SettledFormat.DELIVERED_AT)
                && TwinLong.isReadable(map, SettledFormat.SETTLED_BELOW_AT)
                && TwinLong.isReadable(map, SettledFormat.APPENDED_AT);
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

    TwinLong appendedUpTo() {
        return appendedUpTo;
    }

    int bits(long block) {
        return SettledFormat.bits((long) TwinLong.LONGS.getAcquire(map, indexOf(block)), block);
    }

    /** One ordered store: a kill leaves the word as it was or as it shall be. */
    void put(long block, int bits) {
        TwinLong.LONGS.setRelease(map, indexOf(block), SettledFormat.word(block, bits));
    }

    /** Where the words stand that are neither unused nor any block's that can have been delivered. */
    List<Integer> damagedWords() {
        List<Integer> damaged = new ArrayList<>();
        long lastBlock = SettledFormat.block(deliveredUpTo.value());
        for (int i = 0; i < words; i++) {
            int at = SettledFormat.HEADER_BYTES + i * Long.BYTES;
            long word = (long) TwinLong.LONGS.getAcquire(map, at);
            long block = SettledFormat.blockOf(word, lastBlock);
            if (word != 0 && (block < 0 || block % words != i)) {
                damaged.add(at);
            }
        }
        return damaged;
    }

    /** From the lowest to the highest id above the floor whose word is damaged; null: none. */
    @Nullable
    IdRange damagedIds(long floor) {
        long firstBlock = SettledFormat.block(floor + 1);
        long lowest = Long.MAX_VALUE;
        long highest = 0;
        for (int at : damagedWords()) {
            int index = (at - SettledFormat.HEADER_BYTES) / Long.BYTES;
            long block = firstBlock + Math.floorMod(index - firstBlock, (long) words);
            if (block <= SettledFormat.block(deliveredUpTo.value())) {
                lowest = Math.min(lowest, block * SettledFormat.IDS_PER_WORD);
                highest = Math.max(highest, (block + 1) * SettledFormat.IDS_PER_WORD - 1);
            }
        }
        return highest == 0 ? null : new IdRange(Math.max(lowest, floor + 1), Math.min(highest, deliveredUpTo.value()));
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

    /** Makes every page count as changed, so that the next force writes it even if an earlier one could not. Any thread. */
    void touch() {
        for (int at = 0; at < map.capacity(); at += PAGE_BYTES) {
            TwinLong.LONGS.getAndAdd(map, at, 0L);
        }
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
