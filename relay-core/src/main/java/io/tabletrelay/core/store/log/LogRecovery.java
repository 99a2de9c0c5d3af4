package io.tabletrelay.core.store.log;

import io.tabletrelay.api.Durability;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.core.store.IdRange;
import io.tabletrelay.core.store.StoreException;
import io.tabletrelay.core.store.log.SegmentFolder.State;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds out what a log has after anything may have happened to its files. It writes nothing; its {@link Findings} may clear
 * away folders of segments that were never born, were replaced before their first event, or were being deleted, and foreign
 * queue files.
 *
 * <p>Threading: created, used and dropped by the I/O thread that opens the log.
 */
final class LogRecovery {
    private final Path log;
    private final LogLimits limits;
    private final LogOrigin origin;
    private final long idMark;
    private final StoredRecord record;
    private final Findings findings;

    /** What is told of a log that is not as it should be. */
    interface Findings {
        /** The segment never had an event and never will. */
        void eventless(SegmentFolder folder);

        /** Events of these ids were appended, and the log ends before them. */
        void endIsLost(IdRange ids);

        /** What a kill left of the deletion of a segment. */
        void deleted(Path left);

        /** A queue file that is none of the log's. */
        void foreign(Path file);

        /** What can be found in the segment is read. */
        void damaged(SegmentFolder folder, State state, boolean headerIsLost);
    }

    /**
     * A segment's folder, what could be read of its header, what it is known to take on disk, and what was noted of its end.
     */
    private record Found(
            SegmentFolder folder, State state, @Nullable SegmentHeader header, long diskBytes, CoveredNote covered) {}

    LogRecovery(Path log, LogLimits limits, LogOrigin origin, long idMark) {
        this(log, limits, origin, idMark, new LogCleaning(limits.pipe()));
    }

    LogRecovery(Path log, LogLimits limits, LogOrigin origin, long idMark, Findings findings) {
        this.log = log;
        this.limits = limits;
        this.origin = origin;
        this.idMark = idMark;
        this.findings = findings;
        this.record = new StoredRecord(limits.maxRecordBytes(), origin.salt());
    }

    RecoveredLog recover() {
        List<SegmentFolder> folders = folders();
        List<Found> found = inspect(folders);
        addMissing(found);
        int lastNumber = Stream.concat(folders.stream(), found.stream().map(Found::folder))
                .mapToInt(SegmentFolder::number)
                .max()
                .orElse(0);
        if (found.isEmpty()) {
            long last = origin.firstFreeId() - 1;
            return RecoveredLog.ofNothing(lastNumber, last, idMark > last);
        }
        return assemble(found, lastNumber);
    }

    private RecoveredLog assemble(List<Found> found, int lastNumber) {
        List<Segment> segments = new ArrayList<>();
        for (int i = 0; i + 1 < found.size(); i++) {
            segments.add(sealed(found.get(i), found.get(i + 1)));
        }
        ProducerTable producers = new ProducerTable();
        int from = newestWithHeader(found);
        for (int i = Math.max(0, from); i + 1 < found.size(); i++) {
            scan(found.get(i), segments.get(i), producers);
        }
        Found newest = found.get(found.size() - 1);
        SegmentHeader header = newest.header();
        long voidIds = header == null ? 0 : header.voidIds();
        Segment open = segment(newest, newest.folder().firstId() - 1, 0);
        SegmentScan end = scan(newest, open, producers);
        long lastValidId = end.endIsKnown() ? end.lastValidId() : Math.max(end.lastValidId(), idMark);
        long lastFoundId = Math.max(lastValidId, end.lastWrittenId());
        boolean isShort = isLost(lastFoundId);
        if (isShort) {
            findings.endIsLost(new IdRange(lastFoundId + 1, origin.atLeastId()));
        }
        lastValidId = isShort ? origin.atLeastId() : lastValidId;
        open.appendedUpTo(lastValidId);
        open.grownTo(Math.max(end.bytes(), newest.diskBytes()));
        segments.add(open);
        long forcedId = header == null ? 0 : header.forcedId();
        // without an event the next segment takes its place, and its void ids
        long voidAtEnd = header == null || lastValidId >= open.firstId() ? 0 : lastValidId - header.lastValidId();
        return new RecoveredLog(
                new SegmentList(segments),
                lastNumber,
                lastValidId - voidAtEnd,
                Math.max(lastValidId, end.lastWrittenId()),
                voidIds - voidAtEnd,
                !end.endIsKnown() || !newest.covered().whole() || isShort,
                forcedId,
                uncovered(found, segments, forcedId),
                producers);
    }

    /** True: the log went further than this in this run of the machine, and its files are not those that were written. */
    private boolean isLost(long lastId) {
        return !origin.bootChanged() && origin.atLeastId() > lastId;
    }

    /** Folders that must have been there and are not: that of the oldest segment, or all of them. */
    private void addMissing(List<Found> found) {
        if (origin.keptFromId() == LogOrigin.NOT_KNOWN) {
            return;
        }
        if (found.isEmpty()) {
            if (isLost(origin.keptFromId() - 1)) {
                found.add(missing(1));
            }
            return;
        }
        Found oldest = found.get(0);
        SegmentHeader header = oldest.header();
        int number = oldest.folder().number();
        if (number > 1 && header != null && header.lastValidId() >= origin.keptFromId()) {
            found.add(0, missing(number - 1));
        }
    }

    private Found missing(int number) {
        SegmentFolder folder = SegmentFolder.of(log, number, origin.keptFromId());
        findings.damaged(folder, State.MISSING, true);
        return new Found(folder, State.MISSING, null, 0, CoveredNote.NONE);
    }

    /** Segments with events that no header and no note says are on disk. */
    private static List<Segment> uncovered(List<Found> found, List<Segment> segments, long forcedId) {
        List<Segment> uncovered = new ArrayList<>();
        for (int i = 0; i < found.size(); i++) {
            Segment segment = segments.get(i);
            boolean hasEvents = segment.lastId() >= segment.firstId();
            if (hasEvents
                    && segment.lastId() > forcedId
                    && found.get(i).covered().equals(CoveredNote.NONE)) {
                uncovered.add(segment);
            }
        }
        return uncovered;
    }

    /** From the newest on: whether a segment had events is told by the one behind it that is kept. */
    private List<Found> inspect(List<SegmentFolder> folders) {
        List<Found> found = new ArrayList<>();
        try {
            SegmentFolder next = null;
            for (int i = folders.size() - 1; i >= 0; i--) {
                Found kept = inspect(folders.get(i), next);
                if (kept != null) {
                    found.add(kept);
                    next = kept.folder();
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Collections.reverse(found);
        return found;
    }

    /** Null for a segment that has no ids. */
    private @Nullable Found inspect(SegmentFolder folder, @Nullable SegmentFolder next) throws IOException {
        findForeign(folder);
        State state = folder.inspect(limits);
        SegmentHeader header = folder.header();
        boolean isReplaced = next != null && next.firstId() <= folder.firstId();
        boolean isUnborn = next == null && !folder.isMarkedBorn();
        if ((isReplaced || isUnborn) && hasNoEvent(folder)) {
            findings.eventless(folder);
            return null;
        }
        return isReplaced ? null : checked(folder, state, header);
    }

    private boolean hasNoEvent(SegmentFolder folder) throws IOException {
        Path file = folder.file();
        if (file == null) {
            return true;
        }
        try (SegmentSearch search = new SegmentSearch(file, record)) {
            return search.find(folder.firstId(), Long.MAX_VALUE) < 0;
        } catch (IOException e) {
            if (SegmentFile.isLost(e)) {
                return false; // not known: it stays
            }
            throw e;
        }
    }

    private Found checked(SegmentFolder folder, State state, @Nullable SegmentHeader header) throws IOException {
        Path file = folder.file();
        if (header != null && header.epoch() != origin.epoch()) {
            throw new StoreException(
                    ErrorCode.PIPE_FAILED,
                    "segment is of another pipe: pipe=%s, segment=%s, epoch=%d, expected=%d; move it away"
                            .formatted(limits.pipe(), folder.path(), header.epoch(), origin.epoch()));
        }
        boolean asBorn = header == null || (file != null && SegmentFile.isAsBorn(file, header));
        if (state == State.READABLE && header != null && asBorn) {
            return new Found(folder, State.READABLE, header, diskBytes(folder), CoveredNote.read(folder));
        }
        findings.damaged(folder, state, header == null);
        State known = state == State.MISSING ? State.MISSING : State.SEARCHABLE;
        return new Found(folder, known, header, diskBytes(folder), CoveredNote.read(folder));
    }

    /** 0: not known. */
    private static long diskBytes(SegmentFolder folder) throws IOException {
        long allocatedBytes = folder.allocatedBytes();
        return allocatedBytes == 0 ? 0 : LogGrowth.diskBytes(allocatedBytes);
    }

    /** A segment that is not the newest: the one behind it knows how it ended. */
    private Segment sealed(Found found, Found next) {
        SegmentHeader after = next.header();
        long lastId = Math.min(next.folder().firstId() - 1, found.covered().id());
        long bytes = found.diskBytes();
        if (after != null) {
            lastId = Math.min(lastId, after.lastValidId());
            bytes = Math.max(bytes, after.previousBytes());
        }
        return segment(found, Math.max(lastId, found.folder().firstId() - 1), bytes);
    }

    private Segment segment(Found found, long lastId, long bytes) {
        SegmentQueue queue = found.state() == State.READABLE ? SegmentQueue.existing(found.folder(), limits) : null;
        return new Segment(found.folder(), queue, lastId, bytes);
    }

    private SegmentScan scan(Found found, Segment segment, ProducerTable producers) {
        long mostId = idMark == 0 ? Long.MAX_VALUE : idMark;
        SegmentScan scan = new SegmentScan(
                segment, record, producers, mostId, found.covered().id(), tail());
        SegmentHeader header = found.header();
        if (header != null) {
            header.producers().forEach(producers::stored);
        }
        scan.run();
        return scan;
    }

    private SegmentScan.Tail tail() {
        if (!origin.bootChanged()) {
            return SegmentScan.Tail.WRITTEN;
        }
        boolean isForced = limits.config().durability() == Durability.DISK;
        return isForced ? SegmentScan.Tail.UNFORCED : SegmentScan.Tail.SCATTERED;
    }

    private static int newestWithHeader(List<Found> found) {
        for (int i = found.size() - 1; i >= 0; i--) {
            if (found.get(i).header() != null) {
                return i;
            }
        }
        return 0;
    }

    private List<SegmentFolder> folders() {
        if (!Files.isDirectory(log)) {
            return List.of();
        }
        try (Stream<Path> all = Files.list(log)) {
            List<SegmentFolder> folders = new ArrayList<>();
            for (Path path : all.toList()) {
                if (SegmentFolder.isDeleted(path)) {
                    findings.deleted(path);
                    continue;
                }
                SegmentFolder folder = SegmentFolder.parse(path);
                if (folder != null) {
                    folders.add(folder);
                } else if (path.getFileName().toString().endsWith(SegmentFolder.SUFFIX)) {
                    findings.foreign(path);
                }
            }
            folders.sort(Comparator.comparingInt(SegmentFolder::number));
            return folders;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void findForeign(SegmentFolder folder) throws IOException {
        try (Stream<Path> all = Files.list(folder.path())) {
            for (Path path : all.toList()) {
                boolean queueFile = path.getFileName().toString().endsWith(SegmentFolder.SUFFIX);
                if (queueFile && !path.equals(folder.file())) {
                    findings.foreign(path);
                }
            }
        }
    }
}
