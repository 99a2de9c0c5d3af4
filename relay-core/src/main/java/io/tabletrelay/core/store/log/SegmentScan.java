package io.tabletrelay.core.store.log;

import io.tabletrelay.core.store.IdRange;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One pass over the events of a segment: where it ends, which group was cut short, which publishes its producers made.
 *
 * <p>Threading: confined to the I/O thread that opens the log.
 */
final class SegmentScan {
    private static final Logger LOG = LoggerFactory.getLogger(SegmentScan.class);

    private final Segment segment;
    private final StoredRecord record;
    private final ProducerTable producers;
    private final long mostId;
    private final Tail tail;
    private final long countsUpToId;
    private long lastReadId;
    private int openGroupEvents;
    private long lastValidId;
    private long lastWrittenId;
    private boolean endIsKnown;
    private long bytes = SegmentFile.BIRTH_BYTES;

    /**
     * No id above {@code mostId} was given, unless there is an event that has it, whatever a damaged file says.
     *
     * @param countsUpToId what lies above is void, whole as it may be: a force of it failed
     * @param tail what the end of the segment may be like
     */
    SegmentScan(
            Segment segment, StoredRecord record, ProducerTable producers, long mostId, long countsUpToId, Tail tail) {
        this.mostId = mostId;
        this.countsUpToId = countsUpToId;
        this.tail = tail;
        this.segment = segment;
        this.record = record;
        this.producers = producers;
        lastReadId = segment.firstId() - 1;
        lastValidId = lastReadId;
        lastWrittenId = lastReadId;
    }

    /** What the last ids of a segment may be like. */
    enum Tail {
        /** As it was written: what cannot be read is damaged. */
        WRITTEN,
        /** A power cut took any pages of what was confirmed: what stands behind them is part of the log. */
        SCATTERED,
        /**
         * A power cut took any pages of what had not been forced, and so not confirmed: the log ends where the first of these is
         * missing. Each record says up to which id all was forced before it.
         */
        UNFORCED
    }

    /** Throws UncheckedIOException or StoreException if the file cannot be read now, whatever is in it. */
    void run() {
        Path file = segment.folder().file();
        if (file == null) {
            return;
        }
        try (SegmentSearch search = new SegmentSearch(file, record)) {
            long knownRecords = SegmentFile.knownRecords(file);
            long knownId = segment.firstId() + knownRecords - 2;
            long notedId = segment.folder().endedAt();
            endIsKnown = notedId > 0 || (knownRecords > 0 && knownId <= mostId);
            lastWrittenId = Math.max(lastWrittenId, Math.max(notedId, knownId <= mostId ? knownId : 0));
            long forcedId = tail == Tail.UNFORCED ? forcedId(file) : Long.MAX_VALUE;
            while ((lastReadId < lastWrittenId || tail != Tail.WRITTEN || !search.atEnd())
                    && search.find(lastReadId + 1, Long.MAX_VALUE) > 0
                    && (record.id() == lastReadId + 1 || lastReadId < forcedId)) {
                take();
            }
            endIsKnown |= knownRecords > 0 && knownId == lastReadId; // the mark is an older one
        } catch (IOException e) {
            if (!SegmentFile.isLost(e)) {
                throw new UncheckedIOException(e);
            }
            LOG.error("segment cannot be read: segment={}", segment.folder().path(), e);
        }
        lastWrittenId = tail == Tail.UNFORCED ? lastReadId : Math.max(lastWrittenId, lastReadId);
        boolean endsInGroup = lastReadId == lastWrittenId;
        long lastWholeId = lastWrittenId - (endsInGroup ? openGroupEvents : 0);
        lastValidId = Math.max(segment.firstId() - 1, Math.min(countsUpToId, lastWholeId));
    }

    /** Ids up to this one were forced, as what can be read of the records behind them says. */
    private long forcedId(Path file) throws IOException {
        try (SegmentSearch search = new SegmentSearch(file, record)) {
            long forcedId = 0;
            while (search.find(segment.firstId(), Long.MAX_VALUE) > 0) {
                forcedId = Math.max(forcedId, record.coveredId());
            }
            return forcedId;
        }
    }

    /** Highest id that has an event, or had one that is damaged now. */
    long lastValidId() {
        return lastValidId;
    }

    /** The same, with the ids of a group that was cut short, which nobody was ever told of. */
    long lastWrittenId() {
        return lastWrittenId;
    }

    /** False: the segment may have had more ids than these. */
    boolean endIsKnown() {
        return endIsKnown;
    }

    /** About what the segment takes on disk. */
    long bytes() {
        return bytes;
    }

    private void take() {
        lastReadId = record.id();
        bytes += record.size() + 2L * Integer.BYTES;
        boolean wholeGroup = record.member() == record.groupSize();
        openGroupEvents = wholeGroup ? 0 : record.member();
        if (wholeGroup && record.producerSequence() > 0 && lastReadId <= countsUpToId) {
            producers.stored(new ProducerTable.Entry(
                    record.producer(),
                    record.producerSequence(),
                    new IdRange(lastReadId - record.groupSize() + 1, lastReadId),
                    record.appendedAtMillis()));
        }
    }
}
