package io.tabletrelay.core.store;

import io.tabletrelay.core.store.SegmentFolder.State;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out what a log has after anything may have happened to its files. It deletes folders of segments that were never
 * born, puts foreign queue files aside, and writes nothing else.
 *
 * <p>Threading: created, used and dropped by the I/O thread that opens the log.
 */
final class LogRecovery {
    private static final Logger LOG = LoggerFactory.getLogger(LogRecovery.class);

    private final Path log;
    private final LogLimits limits;
    private final LogOrigin origin;
    private final long idMark;
    private final StoredRecord record;

    /** A segment's folder, and what could be read of its header. */
    private record Found(
            SegmentFolder folder, State state, @Nullable SegmentHeader header) {}

    LogRecovery(Path log, LogLimits limits, LogOrigin origin, long idMark) {
        this.log = log;
        this.limits = limits;
        this.origin = origin;
        this.idMark = idMark;
        this.record = new StoredRecord(limits.maxRecordBytes());
    }

    RecoveredLog recover() {
        List<SegmentFolder> folders = folders();
        int lastNumber = folders.stream().mapToInt(SegmentFolder::number).max().orElse(0);
        List<Found> found = new ArrayList<>();
        for (int i = 0; i < folders.size(); i++) {
            inspect(folders.get(i), i + 1 < folders.size() ? folders.get(i + 1) : null, found);
        }
        if (found.isEmpty()) {
            long last = origin.firstFreeId() - 1;
            return new RecoveredLog(
                    new SegmentList(List.of()), lastNumber, last, last, 0, idMark > last, new ProducerTable());
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
        if (newest.state() != State.READABLE) {
            long last = Math.max(newest.folder().firstId() - 1, idMark);
            segments.add(new Segment(newest.folder(), null, last, 0));
            return new RecoveredLog(new SegmentList(segments), lastNumber, last, last, voidIds, true, producers);
        }
        Segment open = segment(newest, newest.folder().firstId() - 1, 0);
        SegmentScan end = scan(newest, open, producers);
        open.appendedUpTo(end.lastValidId());
        open.grownTo(end.bytes());
        segments.add(open);
        return new RecoveredLog(
                new SegmentList(segments),
                lastNumber,
                end.lastValidId(),
                end.lastWrittenId(),
                voidIds,
                false,
                producers);
    }

    private void inspect(SegmentFolder folder, @Nullable SegmentFolder next, List<Found> found) {
        State state = folder.inspect();
        boolean newest = next == null;
        boolean hadEvents = next != null && next.firstId() > folder.firstId();
        if (state == State.READABLE) {
            SegmentQueue queue = SegmentQueue.existing(folder, limits);
            try (SegmentCursor cursor = new SegmentCursor(folder, queue, record)) {
                SegmentHeader header = cursor.header();
                if (header == null && !hadEvents && cursor.knownRecords() == 0) {
                    state = State.UNBORN;
                } else {
                    found.add(checked(folder, header));
                    return;
                }
            } catch (RuntimeException | Error e) {
                LOG.error("segment cannot be opened: pipe={}, segment={}", limits.pipe(), folder.path(), e);
                found.add(new Found(folder, State.DAMAGED, null));
                return;
            }
        }
        if (state == State.UNBORN && !hadEvents) {
            LOG.debug("segment was never born: pipe={}, segment={}; deleted", limits.pipe(), folder.path());
            folder.delete();
        } else if (newest || hadEvents) {
            LOG.error(
                    "segment is damaged: pipe={}, segment={}, state={}; its events from id {} on are lost",
                    limits.pipe(),
                    folder.path(),
                    state,
                    folder.firstId());
            found.add(new Found(folder, state, null));
        }
    }

    private Found checked(SegmentFolder folder, @Nullable SegmentHeader header) {
        if (header == null) {
            LOG.error("segment header is damaged: pipe={}, segment={}", limits.pipe(), folder.path());
        } else if (header.epoch() != origin.epoch()) {
            LOG.error(
                    "segment is of another pipe: pipe={}, segment={}, epoch={}, expected={}; not read",
                    limits.pipe(),
                    folder.path(),
                    header.epoch(),
                    origin.epoch());
            return new Found(folder, State.DAMAGED, null);
        }
        return new Found(folder, State.READABLE, header);
    }

    /** A segment that is not the newest: the one behind it knows how it ended. */
    private Segment sealed(Found found, Found next) {
        SegmentHeader after = next.header();
        long lastId = next.folder().firstId() - 1;
        long bytes = 0;
        if (after != null) {
            lastId = Math.min(lastId, after.lastValidId());
            bytes = after.previousBytes();
        }
        return segment(found, Math.max(lastId, found.folder().firstId() - 1), bytes);
    }

    private Segment segment(Found found, long lastId, long bytes) {
        SegmentQueue queue = found.state() == State.READABLE ? SegmentQueue.existing(found.folder(), limits) : null;
        return new Segment(found.folder(), queue, lastId, bytes);
    }

    private SegmentScan scan(Found found, Segment segment, ProducerTable producers) {
        SegmentScan scan = new SegmentScan(segment, record, producers, idMark == 0 ? Long.MAX_VALUE : idMark);
        SegmentHeader header = found.header();
        if (header != null) {
            header.producers().forEach(producers::stored);
        }
        scan.run();
        return scan;
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
                SegmentFolder folder = SegmentFolder.parse(path);
                if (folder != null) {
                    folders.add(folder);
                } else if (path.getFileName().toString().endsWith(SegmentFolder.SUFFIX)) {
                    setAside(path);
                }
            }
            folders.sort(Comparator.comparingInt(SegmentFolder::number));
            return folders;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void setAside(Path foreign) throws IOException {
        Path aside = foreign.resolveSibling(Objects.toString(foreign.getFileName()) + ".foreign");
        Files.move(foreign, aside);
        LOG.error("foreign queue file: pipe={}, file={}; moved to {}", limits.pipe(), foreign, aside);
    }
}
