package io.tabletrelay.core.store.log;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.core.store.StoreException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import net.openhft.chronicle.bytes.Bytes;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts segments: all of a segment is there, its header and room for the first group, or nothing is.
 *
 * <p>Threading: used by I/O threads, one at a time.
 */
final class SegmentStarter {
    private static final Logger LOG = LoggerFactory.getLogger(SegmentStarter.class);

    private final Path log;
    private final LogLimits limits;
    private final Coverage coverage;
    private final InstantSource clock;
    private int lastNumber;

    /** A new segment, ready for the group it was started for. */
    record Started(Segment segment, SegmentWriter writer) {}

    SegmentStarter(Path log, LogLimits limits, Coverage coverage, InstantSource clock, int lastNumber) {
        this.log = log;
        this.limits = limits;
        this.coverage = coverage;
        this.clock = clock;
        this.lastNumber = lastNumber;
    }

    long nowMillis() {
        return clock.millis();
    }

    int lastNumber() {
        return lastNumber;
    }

    /** Throws StoreException, and leaves nothing behind, if there cannot be such a segment. */
    Started start(SegmentHeader header, long recordBytes, int count, LogGrowth growth, long logBytes) {
        int headerBytes = header.toBytes().limit();
        growth.checkBirth(headerBytes + recordBytes, logBytes);
        SegmentFolder folder = SegmentFolder.of(log, lastNumber + 1, header.firstId());
        SegmentQueue queue = SegmentQueue.toBeWritten(folder, limits);
        try {
            Files.createDirectories(folder.path());
            Segment segment = new Segment(folder, queue, header.firstId() - 1, 0);
            SegmentWriter writer = SegmentWriter.create(folder, queue, limits);
            LogGrowth.born(writer, segment);
            growth.grow(writer, segment, writer.endAfter(headerBytes, 1), logBytes);
            ByteBuffer headerRecord = header.bornAs(writer.birthChecksum()).toBytes();
            Bytes<ByteBuffer> bytes = Bytes.wrapForRead(headerRecord);
            writer.append(bytes, headerBytes);
            bytes.releaseLast();
            growth.grow(writer, segment, writer.endAfter(recordBytes, count), logBytes);
            folder.markBorn();
            coverage.born(writer);
            lastNumber++;
            return new Started(segment, writer);
        } catch (StoreException e) {
            abandon(folder, queue);
            throw e;
        } catch (OutOfMemoryError e) { // the log takes it for what it is
            abandon(folder, queue);
            throw e;
        } catch (IOException | InternalError e) {
            abandon(folder, queue);
            throw growth.full(e, headerBytes + recordBytes);
        } catch (Throwable e) {
            abandon(folder, queue);
            if (LogGrowth.isTooManyFiles(e)) {
                throw growth.full(e, headerBytes + recordBytes);
            }
            throw new StoreException(
                    ErrorCode.PIPE_FAILED,
                    "segment cannot be started: pipe=%s, segment=%s, error=%s, reason=%s"
                            .formatted(
                                    limits.pipe(), folder.path(), e.getClass().getSimpleName(), e.getMessage()),
                    e);
        }
    }

    private void abandon(SegmentFolder folder, SegmentQueue queue) {
        queue.close();
        try {
            if (Files.exists(folder.path())) {
                folder.delete();
            }
        } catch (RuntimeException e) {
            lastNumber++;
            LOG.warn("folder cannot be deleted: segment={}; the next open will", folder.path(), e);
        }
    }
}
