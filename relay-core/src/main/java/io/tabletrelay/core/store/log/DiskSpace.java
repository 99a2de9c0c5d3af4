package io.tabletrelay.core.store.log;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.core.store.StoreException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.LongSupplier;

/**
 * What a log may still take from its disk: its own limit, and the free space that appends never use.
 *
 * <p>Threading: immutable.
 */
final class DiskSpace {
    private final LogLimits limits;
    private final LongSupplier usableBytes;

    DiskSpace(LogLimits limits, LongSupplier usableBytes) {
        this.limits = limits;
        this.usableBytes = usableBytes;
    }

    /** As it is when so many bytes of the log are given back. */
    DiskSpace inPlaceOf(long logBytes) {
        return new DiskSpace(limits, () -> usableBytes.getAsLong() + logBytes);
    }

    /** Free bytes of the file system that the folder, or the nearest one above that exists, is on. */
    static LongSupplier usableBytesOf(Path folder) {
        return () -> {
            Path existing = folder.toAbsolutePath();
            while (!Files.exists(existing) && existing.getParent() != null) {
                existing = existing.getParent();
            }
            try {
                return Files.getFileStore(existing).getUsableSpace();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        };
    }

    /** Throws StoreException if the log, which has that many bytes, may not grow by that many more. */
    void check(long logBytes, long moreBytes) {
        long maxBytes = limits.config().maxBytes();
        if (maxBytes > 0 && logBytes + moreBytes > maxBytes) {
            throw new StoreException(
                    ErrorCode.PIPE_FULL,
                    "event refused: pipe=%s, logBytes=%d, limit=%d; publish again when older events are settled, or raise max-bytes"
                            .formatted(limits.pipe(), logBytes, maxBytes));
        }
        long usable = usableBytes.getAsLong();
        if (usable - moreBytes < limits.config().diskReserveBytes()) {
            throw new StoreException(
                    ErrorCode.STORAGE_FULL,
                    "event refused: pipe=%s, usableBytes=%d, neededBytes=%d, disk-reserve=%d; free space on that disk or settle older events"
                            .formatted(
                                    limits.pipe(),
                                    usable,
                                    moreBytes,
                                    limits.config().diskReserveBytes()));
        }
    }

    /** True if {@link #check} would pass. */
    boolean allows(long logBytes, long moreBytes) {
        try {
            check(logBytes, moreBytes);
            return true;
        } catch (StoreException full) {
            return false;
        }
    }
}
