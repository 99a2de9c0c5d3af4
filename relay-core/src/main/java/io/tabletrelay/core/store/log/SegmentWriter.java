package io.tabletrelay.core.store.log;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.Objects;
import net.openhft.chronicle.bytes.Bytes;
import net.openhft.chronicle.queue.ExcerptAppender;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueue;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueueStore;
import org.jspecify.annotations.Nullable;

/**
 * The end of the one segment that is appended to. No append touches a page that was not allocated before: a full disk
 * shows when space is reserved, as an IOException, and never in a mapped page, as a fault.
 *
 * <p>Threading: born by an I/O thread; then the transfer thread appends, an I/O thread reserves meanwhile; each of the two
 * volatile numbers has one writer. Closed by an I/O thread while nobody appends.
 */
final class SegmentWriter implements AutoCloseable {
    /** What Chronicle may put between two records: its length word, padding, and now and then an index page. */
    private static final int RECORD_OVERHEAD_BYTES = 2 * Integer.BYTES;

    private static final int INDEX_PAGE_BYTES = SegmentQueue.INDEX_COUNT * Long.BYTES + 256;
    private static final long RECORDS_PER_INDEX_PAGE = (long) SegmentQueue.INDEX_COUNT * SegmentQueue.INDEX_SPACING;
    private static final int PAGE_BYTES = 4 << 10;
    private static final int ZEROS_BYTES = 64 << 10;
    /** Up to here a file is allocated before Chronicle has it. */
    private static final long BIRTH_END = pageAligned(SegmentFile.BIRTH_BYTES);

    /** Outside the heap, from where it is written without a copy; nobody writes to it. */
    private static final ByteBuffer ZEROS = ByteBuffer.allocateDirect(ZEROS_BYTES);

    private final SegmentFolder folder;
    private final SegmentQueue source;
    private final SingleChronicleQueue queue;
    private final SingleChronicleQueueStore store;
    private final ExcerptAppender appender;
    private final FileChannel channel;
    private final LogLimits limits;
    /** Tells the file from another one of its name; null where the file system cannot. */
    private final @Nullable Object fileKey;

    private long records;
    /** Where Chronicle's last record begins, as its header in the file says. */
    private long lastPosition;

    private volatile long fileBytes;
    private volatile long positionBytes;
    private volatile long reservedBytes;

    /**
     * Where a writer stood that was closed in order.
     *
     * <p>Threading: immutable.
     *
     * @param modified when the file was last written to
     */
    record End(
            long records,
            long lastPosition,
            long positionBytes,
            long reservedBytes,
            long fileBytes,
            FileTime modified) {
        /** Throws IOException if the segment's file was changed since, or is gone. */
        private void check(SegmentFolder folder) throws IOException {
            Path file = folder.file();
            if (file == null
                    || Files.size(file) != fileBytes
                    || !Files.getLastModifiedTime(file).equals(modified)) {
                throw changed(folder);
            }
        }

        private static IOException changed(SegmentFolder folder) {
            return new IOException("file was changed while it was closed: segment=" + folder.path());
        }
    }

    private SegmentWriter(
            SegmentFolder folder,
            SegmentQueue source,
            SingleChronicleQueue queue,
            SingleChronicleQueueStore store,
            ExcerptAppender appender,
            FileChannel channel,
            @Nullable Object fileKey,
            LogLimits limits) {
        this.folder = folder;
        this.source = source;
        this.queue = queue;
        this.store = store;
        this.appender = appender;
        this.channel = channel;
        this.fileKey = fileKey;
        this.limits = limits;
    }

    /** Creates the segment's file. Whatever this throws, the file may be there in part. */
    static SegmentWriter create(SegmentFolder folder, SegmentQueue source, LogLimits limits) throws IOException {
        folder.allocateBirth(ZEROS.duplicate().limit((int) BIRTH_END));
        SingleChronicleQueue queue = source.acquire();
        try {
            SegmentWriter writer = openWriter(folder, source, queue, limits);
            writer.standAtBirth();
            return writer;
        } catch (Throwable e) {
            source.close();
            throw e;
        }
    }

    /**
     * Goes on where this process closed the segment in order. Throws IOException if the file is not as it was then, which is
     * looked at before Chronicle opens it.
     */
    static SegmentWriter resume(SegmentFolder folder, SegmentQueue source, LogLimits limits, End end)
            throws IOException {
        end.check(folder);
        SingleChronicleQueue queue = source.acquire();
        try {
            SegmentWriter writer = openWriter(folder, source, queue, limits);
            writer.goOnFrom(end);
            return writer;
        } catch (Throwable e) {
            source.close();
            throw e;
        }
    }

    private static SegmentWriter openWriter(
            SegmentFolder folder, SegmentQueue source, SingleChronicleQueue queue, LogLimits limits)
            throws IOException {
        SingleChronicleQueueStore store = queue.storeForCycle(folder.number(), queue.epoch(), true, null);
        Path file = store.file().toPath();
        ExcerptAppender appender = queue.createAppender();
        appender.singleThreadedCheckDisabled(true);
        FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
        return new SegmentWriter(folder, source, queue, store, appender, channel, fileKey(file), limits);
    }

    /** At most this many bytes of the file will be used when records of that size are added. */
    long endAfter(long recordBytes, int count) {
        long indexPages = indexPagesOf(records + count) - indexPagesOf(records);
        return positionBytes + recordBytes + (long) count * RECORD_OVERHEAD_BYTES + indexPages * INDEX_PAGE_BYTES;
    }

    /** How many index pages that many records need beyond the one that the file is born with. */
    private static long indexPagesOf(long records) {
        return records == 0 ? 0 : (records - 1) / RECORDS_PER_INDEX_PAGE;
    }

    /** The record lies from 0 to limit of both, and there is room for it. */
    void append(Bytes<?> record, int size) {
        if (store.writePosition() != lastPosition) { // Chronicle would look for the place through the whole file
            throw new IllegalStateException("file was changed by somebody else: segment=%s, position=%d, expected=%d"
                    .formatted(folder.path(), store.writePosition(), lastPosition));
        }
        appender.writeBytes(record.readPositionRemaining(0, size));
        if (appender.lastIndexAppended() != folder.index(records)) {
            throw new IllegalStateException("appended at another place: index=%x, expected=%x"
                    .formatted(appender.lastIndexAppended(), folder.index(records)));
        }
        positionBytes = endAfter(size, 1);
        records++;
        lastPosition = store.writePosition();
    }

    /** Nothing of the file behind this is used, now and after the appends that {@link #endAfter} was asked for. */
    long positionBytes() {
        return positionBytes;
    }

    /** Up to here the file's pages are allocated. */
    long reservedBytes() {
        return reservedBytes;
    }

    /** What of the file is there; Chronicle makes it longer as it goes on to its next block. */
    long fileBytes() {
        return fileBytes;
    }

    /** False: the file was deleted or replaced, and what is appended goes where no open will find it. */
    boolean hasItsName() {
        try {
            Path file = folder.file();
            return file != null && Objects.equals(fileKey, fileKey(file));
        } catch (NoSuchFileException e) {
            return false;
        } catch (IOException e) { // that is not known, then
            return true;
        }
    }

    private static @Nullable Object fileKey(Path file) throws IOException {
        return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
    }

    /** The checksum of Chronicle's part of the file, as it is now. */
    int birthChecksum() throws IOException {
        return SegmentFile.birthChecksum(channel);
    }

    /**
     * Makes the file long enough for that position, as long as Chronicle would make it. Nothing may be appended meanwhile:
     * Chronicle would cut off what it does not know of.
     */
    void lengthenFor(long endBytes) throws IOException {
        long length = SegmentFile.lengthFor(endBytes, limits);
        if (length > channel.size()) {
            channel.write(ByteBuffer.allocate(1), length - 1);
        }
        fileBytes = channel.size();
    }

    /** Allocates pages up to that position, or as far as the disk lets it. The file must be that long already. */
    void reserveUpTo(long endBytes) throws IOException {
        ByteBuffer zeros = ZEROS.duplicate();
        long end = pageAligned(endBytes);
        for (long position = reservedBytes; position < end; reservedBytes = position) {
            zeros.clear().limit((int) Math.min(ZEROS_BYTES, end - position));
            position += channel.write(zeros, position);
        }
    }

    /** What was appended before the call is on disk when this returns; with {@code metadata} all that belongs to the file. */
    void force(Forcing forcing, boolean metadata) throws IOException {
        forcing.file(channel, metadata);
    }

    SegmentFolder folder() {
        return folder;
    }

    /** Where Chronicle's last record begins; what is accounted here must never be less than its end. */
    long lastRecordPosition() {
        return store.writePosition();
    }

    /** Closes it; returns where it stood, or null if that cannot be told. */
    @Nullable
    End closeInOrder() {
        close();
        try {
            Path file = folder.file();
            return file == null
                    ? null
                    : new End(
                            records,
                            lastPosition,
                            positionBytes,
                            reservedBytes,
                            Files.size(file),
                            Files.getLastModifiedTime(file));
        } catch (IOException e) {
            return null;
        }
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            appender.close();
            queue.closeStore(store);
            source.release();
        }
    }

    private void standAtBirth() throws IOException {
        long used = SegmentFile.firstRecordPosition(channel);
        if (used > BIRTH_END) {
            throw new IllegalStateException(
                    "born larger than was allocated: segment=%s, usedBytes=%d, allocatedBytes=%d"
                            .formatted(folder.path(), used, BIRTH_END));
        }
        positionBytes = used;
        lastPosition = store.writePosition();
        reservedBytes = BIRTH_END;
        fileBytes = channel.size();
    }

    private void goOnFrom(End end) throws IOException {
        records = end.records();
        lastPosition = end.lastPosition();
        positionBytes = end.positionBytes();
        reservedBytes = end.reservedBytes();
        fileBytes = channel.size();
        if (store.writePosition() != lastPosition || fileBytes != end.fileBytes()) {
            throw End.changed(folder);
        }
    }

    private static long pageAligned(long bytes) {
        return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    }
}
