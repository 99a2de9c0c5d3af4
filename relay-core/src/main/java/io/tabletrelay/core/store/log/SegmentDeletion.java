package io.tabletrelay.core.store.log;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.core.config.RetentionConfig;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.EventTailer;
import io.tabletrelay.core.store.OldSegments;
import io.tabletrelay.core.store.StoreException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import net.openhft.chronicle.core.io.BackgroundResourceReleaser;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes a Chronicle log's oldest segments. A segment's folder is renamed first: from then on the log has it no more, and
 * what is left of it after a kill is deleted at the next open.
 *
 * <p>Threading: as {@link OldSegments} says; readers come and go on any thread.
 */
final class SegmentDeletion implements OldSegments {
    private static final Logger LOG = LoggerFactory.getLogger(SegmentDeletion.class);

    /** A folder that was renamed and not deleted yet, and what it takes. */
    private record Leftover(Path folder, long diskBytes) {}

    private final ChronicleEventLog log;
    private final LogLimits limits;
    private final List<ChronicleEventTailer> readers = new CopyOnWriteArrayList<>();
    private final List<Leftover> leftovers = new ArrayList<>();
    private volatile long leftoverBytes;

    SegmentDeletion(ChronicleEventLog log, LogLimits limits) {
        this.log = log;
        this.limits = limits;
    }

    void opened(ChronicleEventTailer reader) {
        readers.add(reader);
    }

    void closed(ChronicleEventTailer reader) {
        readers.remove(reader);
    }

    /** What renamed folders still take, which the disk did not let go. */
    long leftoverBytes() {
        return leftoverBytes;
    }

    @Override
    public long firstEnd() {
        List<Segment> segments = log.segments();
        return segments.size() < 2 ? NONE : segments.get(0).lastId();
    }

    @Override
    public int count() {
        return log.segments().size();
    }

    @Override
    public boolean newestHasEvents() {
        List<Segment> segments = log.segments();
        Segment newest = segments.isEmpty() ? null : segments.get(segments.size() - 1);
        return newest != null && newest.lastId() >= newest.firstId();
    }

    @Override
    public long release(long upToId) {
        long free = upToId;
        for (ChronicleEventTailer reader : readers) {
            free = Math.min(free, reader.openingFrom() - 1);
        }
        for (ChronicleEventTailer reader : readers) {
            reader.leaveUpTo(free);
        }
        return free;
    }

    @Override
    public Expired expired(long upToId, long nowMillis) {
        RetentionConfig retain = limits.config().retention();
        SegmentList list = log.segmentList();
        int mayGo = list.oldestEndingBy(upToId);
        // as if the newest were full: it then grows without a look at this
        long bytes =
                list.diskBytes() - list.newest().diskBytes() + limits.config().segmentBytes();
        long expiredUpTo = 0;
        for (int i = 0; i < mayGo; i++) {
            Segment segment = list.segments().get(i);
            boolean tooMany = retain.bytes() > 0 && bytes > retain.bytes();
            long expiresMillis = retain.age().isZero()
                    ? NONE
                    : newestMillis(segment) + retain.age().toMillis();
            if (!retain.isAckedOnly() && !tooMany && expiresMillis > nowMillis) {
                return new Expired(expiredUpTo, expiresMillis);
            }
            expiredUpTo = segment.lastId();
            bytes -= segment.diskBytes();
        }
        return new Expired(expiredUpTo, NONE);
    }

    @Override
    public void deleteUpTo(long upToId) {
        SegmentList list = log.segmentList();
        int count = list.oldestEndingBy(upToId);
        try {
            for (int i = 0; i < count; i++) {
                rename(list.segments().get(i));
            }
            if (count > 0) {
                BackgroundResourceReleaser.releasePendingResources(); // space comes back with the last mapping
            }
            deleteLeftovers();
        } catch (IOException | UncheckedIOException e) {
            throw new StoreException(
                    ErrorCode.STORAGE_FULL,
                    "settled segments cannot be deleted: pipe=%s, ids up to %d, reason=%s; check the disk and the folder's permissions"
                            .formatted(limits.pipe(), upToId, e.getMessage()),
                    e);
        }
    }

    @Override
    public void roll(EventGroup group) {
        log.roll(group);
    }

    private void rename(Segment segment) throws IOException {
        SegmentQueue queue = segment.queue();
        if (queue != null) {
            queue.close();
        }
        Path folder = segment.folder().renameDeleted();
        leftovers.add(new Leftover(folder, segment.diskBytes()));
        leftoverBytes = sumOfLeftovers();
        log.oldestIsDeleted();
        LOG.debug(
                "segment deleted: pipe={}, ids={} to {}, bytes={}",
                limits.pipe(),
                segment.firstId(),
                segment.lastId(),
                segment.diskBytes());
    }

    private void deleteLeftovers() {
        for (Iterator<Leftover> all = leftovers.iterator(); all.hasNext(); ) {
            Leftover leftover = all.next();
            SegmentFolder.deleteAll(leftover.folder());
            all.remove();
            leftoverBytes = sumOfLeftovers();
        }
    }

    private long sumOfLeftovers() {
        return leftovers.stream().mapToLong(Leftover::diskBytes).sum();
    }

    /** Known of what was appended since the open; older segments are asked once, for their last event. */
    private long newestMillis(Segment segment) {
        if (segment.newestMillis() == 0) {
            segment.newestAt(readNewestMillis(segment));
        }
        return segment.newestMillis();
    }

    private long readNewestMillis(Segment segment) {
        try (EventTailer tailer = log.newTailer()) {
            tailer.moveTo(segment.lastId());
            boolean found = segment.contains(segment.lastId()) && tailer.nextOpened() == EventTailer.Step.EVENT;
            return found ? tailer.appendedAtMillis() : lastModifiedMillis(segment);
        }
    }

    private static long lastModifiedMillis(Segment segment) {
        try {
            return Files.getLastModifiedTime(segment.folder().path()).toMillis();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
