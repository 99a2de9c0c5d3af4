package io.tabletrelay.core.store.log;

import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens a log that this process closed in order, without reading it: what was known of it is known still. If its newest file
 * is not as it was, nothing of that counts, and the log is recovered like after a kill.
 *
 * <p>Threading: without state; called by I/O threads.
 */
final class LogResumption {
    private static final Logger LOG = LoggerFactory.getLogger(LogResumption.class);

    private LogResumption() {}

    /** Null if the log must be recovered. */
    static @Nullable ChronicleEventLog resume(
            ClosedLog closed,
            Path folder,
            LogLimits limits,
            LogOrigin origin,
            IdMark idMark,
            InstantSource clock,
            LongSupplier usableBytes,
            Forcing forcing) {
        // what a power cut took was found out when the log was opened first
        LogOrigin since =
                new LogOrigin(origin.epoch(), origin.salt(), origin.firstFreeId(), 0, false, LogOrigin.NOT_KNOWN);
        RecoveredLog before = closed.recovered();
        SegmentWriter.End end = closed.end();
        if (end == null) {
            return ChronicleEventLog.of(before, null, folder, limits, since, idMark, clock, usableBytes, forcing);
        }
        try {
            Segment newest = before.segments().newest();
            SegmentQueue queue = SegmentQueue.toBeWritten(newest.folder(), limits);
            SegmentWriter writer = SegmentWriter.resume(newest.folder(), queue, limits, end);
            Segment goesOn = new Segment(newest.folder(), queue, newest.lastId(), newest.diskBytes());
            RecoveredLog known = before.with(before.segments().withNewest(goesOn));
            return ChronicleEventLog.of(known, writer, folder, limits, since, idMark, clock, usableBytes, forcing);
        } catch (IOException | RuntimeException | InternalError e) {
            LOG.warn("log cannot go on where it was closed, looking at all of it: pipe={}", limits.pipe(), e);
            return null;
        }
    }
}
