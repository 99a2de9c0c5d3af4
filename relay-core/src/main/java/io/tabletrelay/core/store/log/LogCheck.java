package io.tabletrelay.core.store.log;

import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.store.IdRange;
import io.tabletrelay.core.store.StoreException;
import io.tabletrelay.core.store.log.SegmentFolder.State;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Reads a whole log by its bytes, without Chronicle, and changes nothing: what is there, what is lost, what is damaged.
 *
 * <p>Threading: confined to the thread that uses it; nobody else may use the log meanwhile.
 */
public final class LogCheck implements LogRecovery.Findings {
    private final Path folder;
    private final LogLimits limits;
    private final LogOrigin origin;
    private final long idMark;
    private final Visitor visitor;
    private final StoredRecord record;
    private long events;
    private long lostIds;
    private long bytes;
    private long firstLostId;
    private long lastLostId;
    private boolean damaged;

    /** What is found, by id. */
    public interface Visitor {
        void event(long id);

        /** Events of these ids should be there and are not. */
        void lost(Path segment, IdRange ids);

        /** The segment is not as it was written, whether or not an event is lost by it. */
        void damaged(Path segment, String what);

        /** What the relay clears away when it opens the log, and is no damage. */
        void leftover(Path path, String what);

        /** That many bytes more were read. */
        void read(long bytes);
    }

    /**
     * What the log has.
     *
     * @param firstId lowest id that is kept, or lastId + 1
     * @param lastId highest id ever given, as far as the log knows
     * @param events that can be read
     * @param lostIds of events that should be there and cannot be read
     * @param voidIds from firstId on that never had an event
     * @param bytes of the segments' files, as far as they are allocated
     * @param isSound nothing is lost or damaged
     */
    public record Result(
            long firstId,
            long lastId,
            long events,
            long lostIds,
            long voidIds,
            int segments,
            long bytes,
            boolean isSound) {}

    /**
     * A check of the log in that folder, which need not be there.
     *
     * @param pipe the log's name in messages
     */
    public LogCheck(Path folder, String pipe, LogOrigin origin, long idMark, StoreConfig config, Visitor visitor) {
        this.folder = folder;
        this.limits = new LogLimits(pipe, config);
        this.origin = origin;
        this.idMark = idMark;
        this.visitor = visitor;
        this.record = new StoredRecord(limits.maxRecordBytes(), origin.salt());
    }

    /**
     * Reads the log.
     *
     * @throws StoreException if it is another pipe's
     * @throws IOException if it cannot be read, whatever is in it
     */
    public Result run() throws IOException {
        try {
            RecoveredLog log = new LogRecovery(folder, limits, origin, idMark, this).recover();
            for (Segment segment : log.segments().segments()) {
                check(segment);
            }
            long firstId = log.segments().firstId(log.lastWrittenId() + 1);
            long voidIds = log.lastWrittenId() - firstId + 1 - log.segments().idsAbove(firstId - 1);
            int segments = log.segments().segments().size();
            return new Result(
                    firstId, log.lastWrittenId(), events, lostIds, voidIds, segments, bytes, lostIds == 0 && !damaged);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    @Override
    public void deleted(Path left) {
        visitor.leftover(left, "segment whose deletion was under way");
    }

    @Override
    public void eventless(SegmentFolder segment) {
        visitor.leftover(segment.path(), "segment without an event");
    }

    /** Each of them is found to be missing when it is read. */
    @Override
    public void endIsLost(IdRange ids) {}

    @Override
    public void foreign(Path file) {
        visitor.leftover(file, "queue file that is none of the log's");
    }

    @Override
    public void damaged(SegmentFolder segment, State state, boolean headerIsLost) {
        String what = state == State.MISSING
                ? "its file is missing, empty or cannot be read"
                : headerIsLost ? "its header is lost" : "its file is not as it was born";
        damaged = true;
        visitor.damaged(segment.path(), what);
    }

    private void check(Segment segment) throws IOException {
        Path file = segment.folder().file();
        firstLostId = 0;
        if (file == null) {
            lost(segment.firstId(), segment.lastId());
        } else {
            if (segment.queue() != null && !structureIsSound(segment, file)) {
                damaged = true;
                visitor.damaged(segment.folder().path(), "its words or its index are damaged");
            }
            try (SegmentSearch search = new SegmentSearch(file, record)) {
                check(segment, search);
            }
            long allocated = segment.folder().allocatedBytes();
            bytes += allocated == 0 ? Files.size(file) : allocated;
            visitor.read(Files.size(file));
        }
        sayLost(segment);
    }

    private boolean structureIsSound(Segment segment, Path file) throws IOException {
        try {
            return SegmentStructure.isSound(file, segment.firstId(), limits.maxRecordBytes());
        } catch (IOException e) {
            if (SegmentFile.isLost(e)) {
                return false;
            }
            throw e;
        }
    }

    private void check(Segment segment, SegmentSearch search) throws IOException {
        long next = segment.firstId();
        long last = segment.lastId();
        while (next <= last) {
            FoundEvents found = FoundEvents.from(search, next, last);
            while (found.covers(next)) {
                long id = found.next(next);
                lost(next, id - 1);
                next = id;
                if (found.covers(id)) {
                    sayLost(segment);
                    events++;
                    visitor.event(id);
                    next++;
                }
            }
        }
    }

    /** A range goes on until an event is found, which may be in the next search. */
    private void lost(long first, long last) {
        if (last < first) {
            return;
        }
        firstLostId = firstLostId == 0 ? first : firstLostId;
        lastLostId = last;
        lostIds += last - first + 1;
    }

    private void sayLost(Segment segment) {
        if (firstLostId != 0) {
            visitor.lost(segment.folder().path(), new IdRange(firstLostId, lastLostId));
            firstLostId = 0;
        }
    }
}
