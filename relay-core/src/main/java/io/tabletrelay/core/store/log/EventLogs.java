package io.tabletrelay.core.store.log;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.store.EventLog;
import io.tabletrelay.core.store.StoreException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.function.LongSupplier;
import net.openhft.chronicle.core.io.BackgroundResourceReleaser;

/**
 * The way to an event log.
 *
 * <p>Threading: immutable.
 */
public final class EventLogs {
    private EventLogs() {}

    /**
     * Loads what of Chronicle cannot be loaded while the process is stopping: a class of it adds a shutdown hook. Call it
     * before anything is opened.
     */
    public static void prepare() {
        ChronicleSettings.apply();
        BackgroundResourceReleaser.releasePendingResources();
    }

    /**
     * Opens the log in that folder, which need not be there. Nothing is written before the first event. I/O thread.
     *
     * @param pipe the log's name in messages
     * @param memory what this process knows of the log
     * @throws StoreException if the folder cannot be read at all, or not now; damaged segments do not keep a log from opening
     */
    public static EventLog open(
            Path folder,
            String pipe,
            LogOrigin origin,
            IdMark idMark,
            StoreConfig config,
            InstantSource clock,
            LogMemory memory) {
        try {
            LogLimits limits = new LogLimits(pipe, config);
            LongSupplier usableBytes = DiskSpace.usableBytesOf(folder);
            ClosedLog closed = memory.take();
            ChronicleEventLog log = closed == null
                    ? null
                    : LogResumption.resume(closed, folder, limits, origin, idMark, clock, usableBytes, Forcing.DISK);
            if (log == null) {
                log = ChronicleEventLog.open(folder, limits, origin, idMark, clock, usableBytes, Forcing.DISK);
            }
            memory.opened(log);
            return log;
        } catch (UncheckedIOException | OutOfMemoryError e) {
            throw new StoreException(
                    ErrorCode.PIPE_FAILED,
                    "log cannot be opened: pipe=%s, folder=%s, reason=%s".formatted(pipe, folder, e.getMessage()),
                    e);
        }
    }
}
