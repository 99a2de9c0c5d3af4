package io.tabletrelay.core.store.log;

import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.store.IdRange;
import io.tabletrelay.core.store.log.SegmentFolder.State;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.InstantSource;
import net.openhft.chronicle.bytes.Bytes;
import org.jspecify.annotations.Nullable;

/**
 * Writes a damaged log anew, into another folder: each event that can be found, under its id. Ids that are lost become void:
 * behind them a new segment begins, whose header says so. A last segment without events remembers where the ids were, and
 * what every producer stored last, also of events that are lost.
 *
 * <p>Threading: confined to the thread that uses it; nobody else may use either folder meanwhile.
 */
public final class LogRepair implements LogRecovery.Findings {
    private final Path source;
    private final LogLimits limits;
    private final LogOrigin origin;
    private final long idMark;
    private final StoredRecord record;
    private final SegmentStarter starter;
    private final LogGrowth growth;
    private final Coverage coverage;
    private final ProducerTable producers = new ProducerTable();
    private SegmentStarter.@Nullable Started open;
    private long nextId;
    private long firstIdOfAll;
    private long lastId;
    private long voidIds;

    /**
     * A repair of the log in the source folder.
     *
     * @param target need not be there
     * @param pipe the log's name in messages
     */
    public LogRepair(
            Path source,
            Path target,
            String pipe,
            LogOrigin origin,
            long idMark,
            StoreConfig config,
            InstantSource clock) {
        ChronicleSettings.apply();
        this.source = source;
        this.limits = new LogLimits(pipe, config);
        this.origin = origin;
        this.idMark = idMark;
        this.record = new StoredRecord(limits.maxRecordBytes(), origin.salt());
        this.growth = new LogGrowth(limits, new DiskSpace(limits, DiskSpace.usableBytesOf(target)));
        this.coverage = new Coverage(limits, target, Forcing.DISK, RecoveredLog.ofNothing(0, 0, false), 0);
        this.starter = new SegmentStarter(target, limits, coverage, clock, 0);
    }

    /** Throws IOException if the source cannot be read or the target not written, whatever is in them. */
    public void run() throws IOException {
        try {
            RecoveredLog log = new LogRecovery(source, limits, origin, idMark, this).recover();
            for (Segment segment : log.segments().segments()) {
                SegmentHeader header = segment.folder().header();
                begin(segment, header);
                copyEvents(segment);
            }
            if (firstIdOfAll > 0) {
                log.producers().remembered(0).forEach(producers::stored);
                end(log.lastWrittenId());
            }
        } catch (UncheckedIOException e) {
            throw e.getCause();
        } finally {
            close();
        }
    }

    @Override
    public void eventless(SegmentFolder folder) {}

    @Override
    public void deleted(Path left) {}

    /** Each of them is found to be missing when it is read. */
    @Override
    public void endIsLost(IdRange ids) {}

    @Override
    public void foreign(Path file) {}

    @Override
    public void damaged(SegmentFolder folder, State state, boolean headerIsLost) {}

    private void begin(Segment segment, @Nullable SegmentHeader header) {
        if (header != null) {
            header.producers().forEach(producers::stored);
        }
        if (firstIdOfAll == 0) {
            firstIdOfAll = segment.firstId();
            nextId = segment.firstId();
            lastId = header == null ? segment.firstId() - 1 : header.lastValidId();
            voidIds = header == null ? 0 : header.voidIds();
        }
    }

    private void copyEvents(Segment segment) throws IOException {
        Path file = segment.folder().file();
        if (file == null) {
            return;
        }
        try (SegmentSearch search = new SegmentSearch(file, record)) {
            long next = segment.firstId();
            while (next <= segment.lastId()) {
                FoundEvents found = FoundEvents.from(search, next, segment.lastId());
                for (next = found.next(next); found.covers(next); next = found.next(next + 1)) {
                    if (search.read(found.position(next))) {
                        copyEvent(next);
                    }
                }
            }
        }
    }

    private void copyEvent(long id) {
        SegmentStarter.Started current = open;
        if (current == null
                || id != nextId
                || current.writer().endAfter(record.size(), 1) > limits.config().segmentBytes()) {
            current = start(id, record.size());
        } else {
            growth.grow(current.writer(), current.segment(), current.writer().endAfter(record.size(), 1), 0);
        }
        ByteBuffer copy =
                ByteBuffer.allocateDirect(record.size()).put(record.bytes()).flip();
        Bytes<ByteBuffer> bytes = Bytes.wrapForRead(copy);
        current.writer().append(bytes, record.size());
        bytes.releaseLast();
        current.segment().appendedUpTo(id);
        nextId = id + 1;
        lastId = id;
        if (record.member() == record.groupSize() && record.producerSequence() > 0) {
            producers.stored(new ProducerTable.Entry(
                    record.producer(),
                    record.producerSequence(),
                    new IdRange(id - record.groupSize() + 1, id),
                    record.appendedAtMillis()));
        }
    }

    private SegmentStarter.Started start(long id, long recordBytes) {
        voidIds += id - nextId;
        long previousBytes = open == null ? 0 : open.segment().diskBytes();
        close();
        SegmentHeader header = new SegmentHeader(
                id,
                origin.epoch(),
                lastId,
                coverage.forcedId(lastId),
                voidIds,
                previousBytes,
                0,
                producers.remembered(0));
        SegmentStarter.Started started = starter.start(header, recordBytes, 1, growth, 0);
        open = started;
        return started;
    }

    private void end(long lastWrittenId) throws IOException {
        SegmentStarter.Started last = start(Math.max(lastWrittenId + 1, nextId), 1);
        last.segment().folder().noteEnd(last.segment().firstId() - 1);
    }

    private void close() {
        SegmentStarter.Started current = open;
        open = null;
        if (current != null) {
            coverage.cover(current.writer(), lastId);
            current.writer().close();
            SegmentQueue queue = current.segment().queue();
            if (queue != null) {
                queue.close();
            }
        }
    }

    /** True for a file of a segment that a copy of a sound log must have. */
    public static boolean belongsToLog(Path file) {
        Path parent = file.getParent();
        SegmentFolder folder = parent == null ? null : SegmentFolder.parse(parent);
        return folder != null && folder.has(file);
    }
}
