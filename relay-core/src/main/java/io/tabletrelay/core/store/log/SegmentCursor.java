package io.tabletrelay.core.store.log;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.core.store.StoreException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Objects;
import net.openhft.chronicle.bytes.Bytes;
import net.openhft.chronicle.core.Jvm;
import net.openhft.chronicle.core.OS;
import net.openhft.chronicle.queue.ExcerptTailer;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueue;
import net.openhft.chronicle.wire.DocumentContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A place in one segment. Chronicle's index only says where to look: what is found there counts if its checksum and its id
 * say so, and whatever Chronicle throws over damaged bytes, undeclared exceptions and errors among it, means that the file's
 * bytes must be searched without it. Only a search that came to its end says that an event is not there: one that could not be
 * made (no memory, no file handle) is a StoreException.
 *
 * <p>Threading: confined to the thread that uses it, or to the I/O thread that searches for it.
 */
final class SegmentCursor implements AutoCloseable {
    /** No event's id: Chronicle cannot tell, a search must. */
    static final long UNKNOWN = 0;

    private static final Logger LOG = LoggerFactory.getLogger(SegmentCursor.class);
    private static final FoundEvents NOTHING = FoundEvents.none(1, 0);

    private final @Nullable SegmentQueue source;
    private final SegmentFolder folder;
    private final StoredRecord record;
    private final @Nullable SingleChronicleQueue queue;
    private @Nullable ExcerptTailer tailer;
    private @Nullable SegmentSearch search;
    private long nextId = -1;
    private FoundEvents found = NOTHING;

    /** What was read lies in the record until the next call. */
    SegmentCursor(Segment segment, StoredRecord record) {
        this.folder = segment.folder();
        this.source = segment.queue();
        this.record = record;
        this.queue = opened();
    }

    /**
     * Reads an event. Returns its id; a higher one if the events before that are lost; {@link #UNKNOWN} if Chronicle cannot read
     * it, and {@link #search} must tell.
     *
     * @throws StoreException if that cannot be told, whatever is in the file
     */
    long read(long id) {
        FoundEvents known = found;
        if (known.covers(id)) {
            return readFound(known, id);
        }
        boolean there = nextId == id || (tailer != null && moveTo(tailer, id)) || seek(id);
        if (there && readExactly(id)) {
            return id;
        }
        settleFaults();
        return UNKNOWN;
    }

    /**
     * Searches the file's bytes for the events from {@code id} on, up to {@code lastId} or until many are found. I/O thread;
     * nothing else may be called meanwhile.
     *
     * @throws StoreException if the search cannot be made, whatever is in the file
     */
    void search(long id, long lastId) {
        stopReading();
        settleFaults();
        try {
            found = searchOnceMore(id, lastId);
        } catch (IOException e) {
            stopSearching();
            if (!SegmentFile.isLost(e)) {
                throw unsearchable(e);
            }
            LOG.error("file cannot be read to its end: segment={}", folder.path(), e);
            found = FoundEvents.none(id, lastId);
        } catch (StoreException e) {
            stopSearching();
            throw e;
        } catch (RuntimeException | Error e) {
            stopSearching();
            throw unsearchable(e);
        }
    }

    /** No search touches mapped memory: a fault that shows here is a late one, of what Chronicle read before. */
    private FoundEvents searchOnceMore(long id, long lastId) throws IOException {
        try {
            return FoundEvents.from(searched(found.endsBefore(id)), id, lastId);
        } catch (InternalError late) {
            unreadable(late);
            return FoundEvents.from(searched(false), id, lastId);
        }
    }

    private long readFound(FoundEvents known, long id) {
        long next = known.next(id);
        if (next != id) {
            return next;
        }
        try {
            return Objects.requireNonNull(search).read(known.position(id)) && record.id() == id ? id : id + 1;
        } catch (IOException e) {
            if (!SegmentFile.isLost(e)) {
                throw unsearchable(e);
            }
            LOG.error("event cannot be read: segment={}, id={}", folder.path(), id, e);
            return id + 1;
        }
    }

    private SegmentSearch searched(boolean goesOn) throws IOException {
        SegmentSearch open = search;
        if (open != null && goesOn) {
            return open;
        }
        stopSearching();
        Path file = folder.file();
        if (file == null) {
            throw new NoSuchFileException(folder.path().toString());
        }
        open = new SegmentSearch(file, record);
        search = open;
        return open;
    }

    private StoreException unsearchable(Throwable e) {
        return new StoreException(
                ErrorCode.PIPE_FAILED,
                "segment cannot be read: segment=%s, error=%s, reason=%s"
                        .formatted(folder.path(), e.getClass().getSimpleName(), e.getMessage()),
                e);
    }

    @Override
    public void close() {
        stopSearching();
        stopReading();
        if (source != null && queue != null) {
            source.release();
        }
    }

    private void stopSearching() {
        SegmentSearch open = search;
        search = null;
        found = NOTHING;
        try {
            if (open != null) {
                open.close();
            }
        } catch (IOException e) {
            LOG.warn("file cannot be closed: segment={}", folder.path(), e);
        }
    }

    private boolean readExactly(long id) {
        boolean there = read() && record.isEvent() && record.id() == id;
        nextId = there ? id + 1 : -1;
        return there;
    }

    private long sequenceOf(long id) {
        return id - folder.firstId() + 1;
    }

    /** A new tailer each time: one that has moved before would count its way ahead, through the damage. */
    private boolean seek(long id) {
        stopReading();
        if (queue == null) {
            return false;
        }
        try {
            tailer = SegmentQueue.tailerOf(queue);
            return moveTo(tailer, id);
        } catch (Throwable e) {
            unreadable(e);
            return false;
        }
    }

    private boolean moveTo(ExcerptTailer open, long id) {
        nextId = -1;
        try {
            return open.moveToIndex(folder.index(sequenceOf(id)));
        } catch (Throwable e) {
            unreadable(e);
            return false;
        }
    }

    private @Nullable SingleChronicleQueue opened() {
        try {
            return source == null ? null : source.acquire();
        } catch (Throwable e) {
            LOG.error("segment cannot be opened: segment={}; it is searched for events", folder.path(), e);
            return null;
        }
    }

    private void stopReading() {
        nextId = -1;
        if (tailer != null) {
            tailer.close();
            tailer = null;
        }
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
        } catch (StoreException e) { // no memory: that is not Chronicle's word
            throw e;
        } catch (Throwable e) {
            unreadable(e);
            return false;
        }
    }

    /** The address is good for that many bytes: no record is larger than the part of a block that is mapped twice. */
    private static void copy(Bytes<?> source, ByteBuffer target) {
        long from = source.addressForRead(source.readPosition(), target.limit());
        OS.memory().copyMemory(from, Jvm.address(target), target.limit());
    }

    /** A fault in a mapped page may be thrown late, at the next entry to the JVM: it is made to come here. */
    @SuppressWarnings("ThreadPriorityCheck") // any call into the JVM does
    private void settleFaults() {
        try {
            Thread.yield();
        } catch (InternalError late) {
            unreadable(late);
        }
    }

    private void unreadable(Throwable e) {
        LOG.debug("bytes cannot be read: segment={}", folder.path(), e);
    }
}
