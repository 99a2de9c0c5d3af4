package io.tabletrelay.core.store;

/**
 * One pass over the events of a segment: where it ends, which group was cut short, which publishes its producers made.
 *
 * <p>Threading: confined to the I/O thread that opens the log.
 */
final class SegmentScan {
    private final Segment segment;
    private final StoredRecord record;
    private final ProducerTable producers;
    private final long mostId;
    private long lastReadId;
    private int openGroupEvents;
    private long lastValidId;
    private long lastWrittenId;
    private long bytes = SegmentFolder.BIRTH_BYTES;

    /** No id above {@code mostId} was ever given, whatever a damaged file says. */
    SegmentScan(Segment segment, StoredRecord record, ProducerTable producers, long mostId) {
        this.mostId = mostId;
        this.segment = segment;
        this.record = record;
        this.producers = producers;
        lastReadId = segment.firstId() - 1;
        lastValidId = lastReadId;
        lastWrittenId = lastReadId;
    }

    void run() {
        SegmentQueue queue = segment.queue();
        if (queue == null) {
            return;
        }
        try (SegmentCursor cursor = new SegmentCursor(segment.folder(), queue, record)) {
            long knownId = cursor.lastKnownId();
            lastWrittenId = knownId <= mostId ? Math.max(lastWrittenId, knownId) : lastWrittenId;
            while (cursor.readAt(lastReadId + 1) || cursor.readBehind(lastReadId + 1, lastWrittenId) > 0) {
                take();
            }
        }
        lastWrittenId = Math.max(lastWrittenId, lastReadId);
        boolean endsInGroup = lastReadId == lastWrittenId;
        lastValidId = Math.max(segment.firstId() - 1, lastWrittenId - (endsInGroup ? openGroupEvents : 0));
    }

    /** Highest id that has an event, or had one that is damaged now. */
    long lastValidId() {
        return lastValidId;
    }

    /** The same, with the ids of a group that was cut short, which nobody was ever told of. */
    long lastWrittenId() {
        return lastWrittenId;
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
        if (wholeGroup && record.producerSequence() > 0) {
            producers.stored(new ProducerTable.Entry(
                    record.producer(),
                    record.producerSequence(),
                    new IdRange(lastReadId - record.groupSize() + 1, lastReadId),
                    record.appendedAtMillis()));
        }
    }
}
