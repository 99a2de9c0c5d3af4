package io.tabletrelay.core.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;
import net.openhft.chronicle.bytes.Bytes;
import net.openhft.chronicle.core.Jvm;
import net.openhft.chronicle.core.OS;
import net.openhft.chronicle.queue.ExcerptTailer;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueue;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueueStore;
import net.openhft.chronicle.wire.DocumentContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A place in one segment. Chronicle's index only says where to look: what is found there counts if its checksum and its id
 * say so, and whatever Chronicle throws over damaged bytes means that nothing was found.
 *
 * <p>Threading: confined to the thread that uses it.
 */
final class SegmentCursor implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(SegmentCursor.class);

    /** So many records are tried behind a bad one before the index is asked. */
    private static final int TRIED_IN_A_ROW = 2 * SegmentQueue.INDEX_SPACING;

    private final SegmentQueue source;
    private final SegmentFolder folder;
    private final StoredRecord record;
    private final SingleChronicleQueue queue;
    private @Nullable ExcerptTailer tailer;
    private long nextId = -1;

    /** What was read lies in the record until the next call. Throws if the segment cannot be opened. */
    SegmentCursor(SegmentFolder folder, SegmentQueue source, StoredRecord record) {
        this.folder = folder;
        this.source = source;
        this.record = record;
        this.queue = source.acquire();
    }

    /** The segment's own first record, or null if it cannot be read. */
    @Nullable
    SegmentHeader header() {
        if (!seek(folder.firstId() - 1) || !read()) {
            return null;
        }
        return parseHeader();
    }

    /** False: the event with that id is not here or not readable. */
    boolean readAt(long id) {
        if (nextId == id) {
            return readExactly(id);
        }
        return (tailer != null && moveTo(tailer, id) && readExactly(id)) || (seek(id) && readExactly(id));
    }

    /** Reads the next event behind {@code id} that can be read, up to {@code lastId}, and returns its id; -1 if there is none. */
    long readBehind(long id, long lastId) {
        if (seek(id)) {
            for (int i = 0; i < TRIED_IN_A_ROW && read(); i++) {
                if (isEventWithin(id + 1, lastId)) {
                    return found();
                }
            }
        }
        long lastKnownId = Math.min(lastId, lastKnownId());
        long spacing = SegmentQueue.INDEX_SPACING;
        long sequence = (sequenceOf(id) / spacing + 1) * spacing;
        for (; folder.firstId() + sequence - 1 <= lastKnownId; sequence += spacing) {
            if (seek(folder.firstId() + sequence - 1) && read() && isEventWithin(id + 1, lastId)) {
                return found();
            }
        }
        nextId = -1;
        return -1;
    }

    /** The last id that Chronicle's own bookkeeping knows of in this file; one below the first if it knows of none. */
    long lastKnownId() {
        return idOf(Math.max(1, knownRecords()) - 1);
    }

    /** How many records, the segment header included, Chronicle's bookkeeping knows of; -1 if it cannot be read. */
    long knownRecords() {
        nextId = -1;
        try {
            ExcerptTailer atEnd = reopen();
            atEnd.toEnd();
            long records = atEnd.index() - source.index(0) + (lastRecordLostItsLength() ? 1 : 0);
            return records < 0 || records > Integer.MAX_VALUE ? -1 : records;
        } catch (IOException | RuntimeException | Error e) {
            unreadable(e);
            return -1;
        }
    }

    /** Then Chronicle does not count that record, though it knows that it was there. */
    private boolean lastRecordLostItsLength() throws IOException {
        SingleChronicleQueueStore store = queue.storeForCycle(folder.number(), queue.epoch(), false, null);
        Path file = folder.file();
        if (store == null || file == null) {
            return false;
        }
        long position = store.writePosition();
        queue.closeStore(store);
        ByteBuffer word = ByteBuffer.allocate(Integer.BYTES);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            channel.read(word, position);
        }
        return position > 0 && (word.getInt(0) == 0 || word.get(Integer.BYTES - 1) < 0);
    }

    @Override
    public void close() {
        if (tailer != null) {
            tailer.close();
            tailer = null;
        }
        source.release();
    }

    private boolean readExactly(long id) {
        boolean there = read() && record.isEvent() && record.id() == id;
        nextId = there ? id + 1 : -1;
        return there;
    }

    private long found() {
        nextId = record.id() + 1;
        return record.id();
    }

    private boolean isEventWithin(long first, long last) {
        return record.isEvent() && record.id() >= first && record.id() <= last;
    }

    private long sequenceOf(long id) {
        return id - folder.firstId() + 1;
    }

    private long idOf(long sequence) {
        return folder.firstId() + sequence - 1;
    }

    /** A new tailer each time: one that has moved before would count its way ahead, through the damage. */
    private boolean seek(long id) {
        try {
            return moveTo(reopen(), id);
        } catch (RuntimeException | Error e) {
            unreadable(e);
            return false;
        }
    }

    private boolean moveTo(ExcerptTailer open, long id) {
        nextId = -1;
        try {
            return open.moveToIndex(source.index(sequenceOf(id)));
        } catch (RuntimeException | Error e) {
            unreadable(e);
            return false;
        }
    }

    private ExcerptTailer reopen() {
        if (tailer != null) {
            tailer.close();
        }
        tailer = SegmentQueue.tailerOf(queue);
        return tailer;
    }

    private boolean read() {
        ExcerptTailer open = tailer;
        if (open == null) {
            return false;
        }
        try (DocumentContext document = open.readingDocument()) {
            if (!document.isPresent()) {
                return false;
            }
            Bytes<?> bytes = document.wire().bytes();
            ByteBuffer target = record.prepare(bytes.readRemaining());
            copy(bytes, target);
            return true;
        } catch (RuntimeException | Error e) {
            unreadable(e);
            return false;
        }
    }

    /** The address is good for that many bytes: no record is larger than the part of a block that is mapped twice. */
    private static void copy(Bytes<?> source, ByteBuffer target) {
        long from = source.addressForRead(source.readPosition(), target.limit());
        OS.memory().copyMemory(from, Jvm.address(target), target.limit());
    }

    private @Nullable SegmentHeader parseHeader() {
        SegmentHeader header = SegmentHeader.parse(record.raw(), new CRC32C());
        return header != null && header.firstId() == folder.firstId() ? header : null;
    }

    private void unreadable(Throwable e) {
        LOG.debug("bytes cannot be read: segment={}", folder.path(), e);
    }
}
