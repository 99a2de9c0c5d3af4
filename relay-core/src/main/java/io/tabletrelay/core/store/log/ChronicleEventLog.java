package io.tabletrelay.core.store.log;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.core.config.OnDamage;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.EventLog;
import io.tabletrelay.core.store.EventTailer;
import io.tabletrelay.core.store.IdRange;
import io.tabletrelay.core.store.OldSegments;
import io.tabletrelay.core.store.StoreException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.function.LongSupplier;
import net.openhft.chronicle.bytes.Bytes;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A log whose segments are Chronicle queues of one file each. A segment is written only by the open log that started it;
 * the first append after an open starts a new one.
 *
 * <p>Threading: as {@link EventLog} says. The transfer thread alone adds ids; the writer, the list of segments and the id
 * mark are changed by I/O threads, one at a time, and published by volatile fields.
 */
final class ChronicleEventLog implements EventLog {
    private static final Logger LOG = LoggerFactory.getLogger(ChronicleEventLog.class);

    private final LogLimits limits;
    private final LogOrigin origin;
    private final IdRoom ids;
    private final SegmentStarter starter;
    private final LogGrowth growth;
    private final SegmentDeletion deletion;
    private final ProducerTable producers;
    private final RecordChecksum checksum;
    private final GroupSizes sizes;
    private final Coverage coverage;
    private final UncoveredPublishes publishes;
    private long voidIds;
    private long lastValidId;

    private final ByteBuffer recordBuffer = ByteBuffer.allocateDirect(ThreadBuffer.OWN_BYTES);
    private final Bytes<ByteBuffer> recordBytes = ThreadBuffer.wrap(recordBuffer);
    private volatile SegmentList segments;
    private volatile long lastId;
    private volatile @Nullable SegmentWriter writer;
    private volatile @Nullable Throwable failure;
    private volatile boolean growthFailed;
    private volatile boolean damaged;
    private volatile @Nullable OutOfMemoryError shortage;

    private ChronicleEventLog(
            LogLimits limits,
            LogOrigin origin,
            IdMark idMark,
            SegmentStarter starter,
            LogGrowth growth,
            Coverage coverage,
            long lastId,
            RecoveredLog recovered,
            @Nullable SegmentWriter writer) {
        this.writer = writer;
        this.limits = limits;
        this.origin = origin;
        this.ids = new IdRoom(idMark, recovered.lastValidId());
        this.starter = starter;
        this.growth = growth;
        deletion = new SegmentDeletion(this, limits);
        checksum = new RecordChecksum(origin.salt());
        sizes = new GroupSizes(limits.config().maxEventBytes());
        producers = recovered.producers();
        publishes = new UncoveredPublishes(producers);
        this.coverage = coverage;
        segments = recovered.segments();
        lastValidId = recovered.lastValidId();
        this.lastId = lastId;
        voidIds = recovered.voidIds() + lastId - lastValidId;
    }

    /** Reads what is there and writes nothing. Blocks on the disk. */
    static ChronicleEventLog open(
            Path folder,
            LogLimits limits,
            LogOrigin origin,
            IdMark idMark,
            InstantSource clock,
            LongSupplier usableBytes,
            Forcing forcing) {
        ChronicleSettings.apply();
        RecoveredLog recovered = new LogRecovery(folder, limits, origin, idMark.value()).recover();
        ChronicleEventLog log = of(recovered, null, folder, limits, origin, idMark, clock, usableBytes, forcing);
        if (log.lastId > recovered.lastWrittenId()) {
            LOG.warn(
                    "log may have lost its tail: pipe={}, last={}, shown up to {}; ids go on at {}",
                    limits.pipe(),
                    recovered.lastValidId(),
                    origin.atLeastId(),
                    log.lastId + 1);
        }
        return log;
    }

    /** A log of which this is known; without a writer its first append starts a segment. */
    static ChronicleEventLog of(
            RecoveredLog known,
            @Nullable SegmentWriter writer,
            Path folder,
            LogLimits limits,
            LogOrigin origin,
            IdMark idMark,
            InstantSource clock,
            LongSupplier usableBytes,
            Forcing forcing) {
        LogGrowth growth = new LogGrowth(limits, new DiskSpace(limits, usableBytes));
        long lastId = firstIdAfter(known, origin, idMark.value()) - 1;
        Coverage coverage = new Coverage(limits, folder, forcing, known, lastId);
        SegmentStarter starter = new SegmentStarter(folder, limits, coverage, clock, known.lastNumber());
        return new ChronicleEventLog(limits, origin, idMark, starter, growth, coverage, lastId, known, writer);
    }

    @Override
    public long firstId() {
        return segments.firstId(lastId + 1);
    }

    @Override
    public long lastId() {
        return lastId;
    }

    @Override
    public long durableId() {
        return coverage.durableId(lastId);
    }

    @Override
    public long skipVoid(long id) {
        return Math.max(id, segments.skipVoid(id, lastId + 1));
    }

    @Override
    public long voidIds() {
        return voidIds;
    }

    @Override
    public long voidIdsAbove(long id) {
        return id + 1 < firstId() ? voidIds : lastId - id - segments.idsAbove(id);
    }

    @Override
    public long diskBytes() {
        return segments.diskBytes() + deletion.leftoverBytes();
    }

    @Override
    public boolean hasRoomFor(EventGroup group) {
        SegmentWriter open = writer;
        if (failure != null
                || open == null
                || damaged
                || coverage.loss() != null
                || sizes.of(group).problem() != null) {
            return false;
        }
        long end = open.endAfter(sizes.recordBytes(), group.size());
        return ids.hasRoomFor(group.size(), lastId)
                && end <= open.reservedBytes()
                && fitsSegment(end)
                && hasBufferFor(group);
    }

    /** The buffer is this thread's, so that only here can it be made; {@link #makeRoomFor} says when there is none. */
    private boolean hasBufferFor(EventGroup group) {
        try {
            ensureBuffer(group);
            return true;
        } catch (OutOfMemoryError e) {
            shortage = e;
            return false;
        }
    }

    @Override
    public boolean lowOnRoom() {
        SegmentWriter open = writer;
        return open != null && failure == null && !growthFailed && (growth.isLow(open) || ids.isLow(lastId));
    }

    @Override
    public void allocateAhead() {
        SegmentWriter open = writer;
        if (open == null) {
            return;
        }
        checkFiles();
        try {
            growthFailed = growth.isLow(open) && !growth.growAhead(open, newest(), diskBytes());
            if (ids.isLow(lastId)) {
                ids.raiseFor(1, lastId);
            }
        } catch (IOException e) {
            growthFailed = true;
            LOG.warn("log cannot grow: pipe={}, logBytes={}", limits.pipe(), diskBytes(), e);
        }
    }

    @Override
    public void force() {
        coverage.cover(writer, lastId);
    }

    @Override
    public @Nullable IdRange voidUncovered() {
        IOException cause = coverage.loss();
        if (cause == null) {
            return null;
        }
        IdRange lost = new IdRange(coverage.coveredId() + 1, lastId);
        publishes.takeBack(coverage.coveredId());
        newest().appendedUpTo(coverage.coveredId());
        lastValidId = coverage.coveredId();
        voidIds += lastId - coverage.coveredId();
        damaged = true;
        coverage.voided(lastId);
        LOG.error(
                "force failed, its events are void: pipe={}, ids={} to {}; their producers are told, ids go on at {}",
                limits.pipe(),
                lost.first(),
                lost.last(),
                lastId + 1,
                cause);
        return lost;
    }

    @Override
    public void makeRoomFor(EventGroup group) {
        if (failure != null) {
            throw failed();
        }
        try {
            check(group);
            checkFiles();
            makeRoom(group);
        } catch (OutOfMemoryError e) {
            throw noMemoryFor(group, e);
        } finally {
            sizes.forget();
        }
    }

    /** Throws if the group can never be appended, or there was no buffer for it. */
    private void check(EventGroup group) {
        String problem = sizes.of(group).problem();
        if (problem != null) {
            throw new StoreException(ErrorCode.TOO_LARGE, "event refused: pipe=" + limits.pipe() + ", " + problem);
        }
        OutOfMemoryError noBuffer = shortage;
        shortage = null;
        if (noBuffer != null) {
            throw noMemoryFor(group, noBuffer);
        }
    }

    /** The segments that are there count for nothing: they are deleted next. */
    void roll(EventGroup group) {
        try {
            checkFiles();
            startSegment(sizes.of(group).recordBytes(), group.size(), growth.inPlaceOf(diskBytes()), 0);
            makeRoom(group);
        } catch (OutOfMemoryError e) {
            throw noMemoryFor(group, e);
        } finally {
            sizes.forget();
        }
    }

    private void makeRoom(EventGroup group) {
        long recordBytes = sizes.of(group).recordBytes();
        SegmentWriter open = writer;
        if (open == null || damaged || !fitsSegment(open.endAfter(recordBytes, group.size()))) {
            startSegment(recordBytes, group.size(), growth, diskBytes());
        } else {
            growth.grow(open, newest(), open.endAfter(recordBytes, group.size()), diskBytes());
        }
        if (!ids.hasRoomFor(group.size(), lastId)) {
            ids.raiseFor(group.size(), lastId);
        }
        growthFailed = false;
    }

    @Override
    public long append(EventGroup group) {
        SegmentWriter open = writer;
        if (failure != null || open == null) {
            throw failed();
        }
        try {
            ensureBuffer(group);
            return write(open, group);
        } catch (OutOfMemoryError e) { // of the buffer
            throw noMemoryFor(group, e);
        } finally {
            sizes.forget();
        }
    }

    /** Whatever goes wrong here leaves the file in a state that nobody knows. */
    private long write(SegmentWriter open, EventGroup group) {
        long firstId = lastId + 1;
        long last = firstId + group.size() - 1;
        try {
            for (int member = 1; member <= group.size(); member++) {
                appendMember(open, group, member, firstId + member - 1);
            }
            newest().newestAt(group.appendedAtMillis());
            newest().appendedUpTo(last);
            lastId = last;
            lastValidId = last;
            remember(group, new IdRange(firstId, last));
            return firstId;
        } catch (Throwable e) {
            failure = e;
            throw failed();
        }
    }

    private void appendMember(SegmentWriter open, EventGroup group, int member, long id) {
        int size = group.size() == 1
                ? sizes.of(group).largestRecordBytes()
                : RecordFormat.eventBytes(group.payloads().get(member - 1), group.sequence());
        if (size <= recordBuffer.capacity()) {
            RecordFormat.writeEvent(recordBuffer, id, member, group, coverage.knownId(), checksum);
            open.append(recordBytes, size);
        } else {
            ThreadBuffer large = ThreadBuffer.take(size, limits.maxRecordBytes());
            RecordFormat.writeEvent(large.bytes(), id, member, group, coverage.knownId(), checksum);
            open.append(large.chronicleBytes(), size);
        }
    }

    private void remember(EventGroup group, IdRange ids) {
        ProducerSequence sequence = group.sequence();
        if (sequence != null) {
            publishes.stored(
                    new ProducerTable.Entry(sequence.producer(), sequence.sequence(), ids, group.appendedAtMillis()),
                    durableId());
        }
    }

    @Override
    public long lastSequence(String producer) {
        return producers.lastSequence(producer);
    }

    @Override
    public @Nullable IdRange idsOf(ProducerSequence sequence) {
        return producers.idsOf(sequence);
    }

    @Override
    public @Nullable IdRange findIdsOf(ProducerSequence sequence) {
        force();
        return new PublishSearch(this, newRecord()).find(sequence);
    }

    @Override
    public EventTailer openTailer() {
        ChronicleEventTailer tailer =
                new ChronicleEventTailer(this, newRecord(), limits.config().onDamage());
        deletion.opened(tailer);
        return tailer;
    }

    /** A reader that deletion knows nothing of, and that no damage stops. */
    ChronicleEventTailer newTailer() {
        return new ChronicleEventTailer(this, newRecord(), OnDamage.SKIP);
    }

    LostEvents lost(Segment segment, long firstId, long lastId) {
        return new LostEvents(limits, origin.salt(), segment.folder(), new IdRange(firstId, lastId));
    }

    void closed(ChronicleEventTailer tailer) {
        deletion.closed(tailer);
    }

    @Override
    public boolean hasDeleted() {
        return lastId - voidIds > segments.idsAbove(0);
    }

    @Override
    public OldSegments oldSegments() {
        return deletion;
    }

    @Override
    public void checkFiles() {
        SegmentWriter open = writer;
        if (failure != null) {
            return;
        }
        try {
            ids.checkIsOurs();
        } catch (StoreException notOurs) {
            failure = notOurs;
            throw notOurs;
        }
        if (open != null && !open.hasItsName()) {
            Segment newest = newest();
            StoreException gone = new StoreException(
                    ErrorCode.PIPE_FAILED,
                    "segment file was deleted or replaced: pipe=%s, segment=%s, ids=%d to %d; put it back before the pipe is opened again"
                            .formatted(limits.pipe(), newest.folder().path(), newest.firstId(), newest.lastId()));
            failure = gone;
            throw gone;
        }
    }

    private StoredRecord newRecord() {
        return new StoredRecord(limits.maxRecordBytes(), origin.salt());
    }

    @Override
    public void close() {
        SegmentWriter open = writer;
        writer = null;
        if (open != null) {
            if (failure == null) {
                coverage.close(open, lastId);
            }
            open.close();
            noteEnd();
        }
        for (Segment segment : segments.segments()) {
            SegmentQueue queue = segment.queue();
            if (queue != null) {
                queue.close();
            }
        }
        recordBytes.releaseLast();
    }

    private void noteEnd() {
        try {
            if (failure == null) {
                newest().folder().noteEnd(lastId);
            }
        } catch (IOException e) { // the file says it as well, as long as it can be read
            LOG.warn(
                    "end of the log cannot be noted: segment={}",
                    newest().folder().path(),
                    e);
        }
    }

    /** Closes the files of a log that has nothing to do; returns what the next open can go on from, null if it must recover. */
    @Nullable
    ClosedLog closeInOrder() {
        SegmentWriter open = writer;
        if (failure != null || damaged || durableId() < lastId) {
            close();
            return null;
        }
        writer = null;
        SegmentWriter.End end = open == null ? null : open.closeInOrder();
        close();
        RecoveredLog known = new RecoveredLog(
                segments,
                starter.lastNumber(),
                lastValidId,
                lastId,
                voidIds - (lastId - lastValidId),
                false,
                coverage.forcedId(lastValidId),
                List.of(),
                producers);
        return new ClosedLog(known, end);
    }

    /** The segment that has this id; ask only for ids that {@link #skipVoid} gave. */
    Segment segmentOf(long id) {
        return segments.holding(id);
    }

    List<Segment> segments() {
        return segments.segments();
    }

    SegmentList segmentList() {
        return segments;
    }

    void oldestIsDeleted() {
        segments = segments.withoutOldest(1);
    }

    /** Damage was found there: if it is the segment that is written, the next append starts another. */
    void damagedIn(Segment segment) {
        if (writer != null && segment.firstId() == newest().firstId()) {
            damaged = true;
        }
    }

    /** Null before the first append. */
    @Nullable
    SegmentWriter writer() {
        return writer;
    }

    private static long firstIdAfter(RecoveredLog recovered, LogOrigin origin, long markedId) {
        long next = Math.max(recovered.lastWrittenId() + 1, origin.firstFreeId());
        boolean tailMayBeLost =
                origin.bootChanged() || origin.atLeastId() > recovered.lastWrittenId() || recovered.idsUncertain();
        return tailMayBeLost ? Math.max(next, Math.max(markedId, origin.atLeastId()) + 1) : next;
    }

    private void startSegment(long recordBytes, int count, LogGrowth within, long logBytes) {
        SegmentList before = segments;
        coverage.cover(writer, lastId);
        long previousBytes = before.segments().isEmpty() ? 0 : newest().diskBytes();
        SegmentHeader header = new SegmentHeader(
                lastId + 1,
                origin.epoch(),
                lastValidId,
                coverage.forcedId(lastValidId),
                voidIds,
                previousBytes,
                0,
                producers.remembered(starter.nowMillis()));
        SegmentStarter.Started started = starter.start(header, recordBytes, count, within, logBytes);
        SegmentWriter old = writer;
        segments = before.with(started.segment());
        writer = started.writer();
        damaged = false;
        if (old != null) {
            old.close();
        }
    }

    private Segment newest() {
        return segments.newest();
    }

    /** A segment that has no event yet takes any group. */
    private boolean fitsSegment(long end) {
        Segment newest = newest();
        return end <= limits.config().segmentBytes() || newest.lastId() < newest.firstId();
    }

    /** Throws OutOfMemoryError if this thread has no buffer for the group's largest record and gets none. */
    private void ensureBuffer(EventGroup group) {
        int largest = sizes.of(group).largestRecordBytes();
        if (largest > recordBuffer.capacity()) {
            ThreadBuffer.ensure(largest, limits.maxRecordBytes());
        }
    }

    private StoreException noMemoryFor(EventGroup group, OutOfMemoryError cause) {
        return new StoreException(
                ErrorCode.BUSY,
                "event refused, not enough memory: pipe=%s, groupBytes=%d, reason=%s; retry when there is more"
                        .formatted(limits.pipe(), sizes.of(group).recordBytes(), cause.getMessage()),
                cause);
    }

    private StoreException failed() {
        return new StoreException(
                ErrorCode.PIPE_FAILED,
                "log takes no appends: pipe=%s, lastId=%d; open it again".formatted(limits.pipe(), lastId),
                failure);
    }
}
