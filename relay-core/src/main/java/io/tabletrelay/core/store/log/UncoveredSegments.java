package io.tabletrelay.core.store.log;

import io.tabletrelay.core.store.SmallFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Segments found at an open of which nobody knows whether they are on disk: an earlier run ended without forcing them, or its
 * force failed. The kernel says of a page that could not be written that it is clean, so that a force alone would prove
 * nothing: every used page is written again, as it is, and forced then.
 *
 * <p>Threading: used by I/O threads, one at a time.
 */
final class UncoveredSegments {
    private static final Logger LOG = LoggerFactory.getLogger(UncoveredSegments.class);
    private static final int PAGE_BYTES = 4 << 10;

    private final List<Segment> segments;
    private final Path log;
    private final Forcing forcing;

    UncoveredSegments(List<Segment> segments, Path log, Forcing forcing) {
        this.segments = List.copyOf(segments);
        this.log = log;
        this.forcing = forcing;
    }

    /** When this returns they are on disk, with their names; throws IOException if that is not so, and may be called again. */
    void cover() throws IOException {
        for (Segment segment : segments) {
            Path file = segment.folder().file();
            if (file != null) {
                rewrite(file);
                forcing.directory(segment.folder().path());
            }
        }
        forcing.directory(log);
        forcing.directory(SmallFile.parent(log));
        for (Segment segment : segments) {
            if (Files.isDirectory(
                    segment.folder().path())) { // it may have been deleted since, with all its events settled
                note(segment);
            }
        }
    }

    private static void note(Segment segment) {
        try {
            new CoveredNote(segment.lastId(), true).write(segment.folder());
        } catch (IOException e) {
            LOG.warn(
                    "cannot be noted as forced, the next open does it again: segment={}",
                    segment.folder().path(),
                    e);
        }
    }

    private void rewrite(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            ByteBuffer page = ByteBuffer.allocateDirect(PAGE_BYTES);
            ByteBuffer nothing = ByteBuffer.allocateDirect(PAGE_BYTES);
            long size = channel.size();
            for (long position = 0; position < size; position += PAGE_BYTES) {
                page.clear();
                nothing.clear();
                if (read(channel, page, position, file) && !page.flip().equals(nothing.limit(page.limit()))) {
                    writeBack(channel, page, position);
                }
            }
            forcing.file(channel, true);
        }
    }

    /** A file was nothing but zeros when it was born: those pages need no writing. */
    private static void writeBack(FileChannel channel, ByteBuffer page, long position) throws IOException {
        long at = position;
        while (page.hasRemaining()) {
            at += channel.write(page, at);
        }
    }

    /** False for a page that is lost: it is damage, as its reader will say. */
    private static boolean read(FileChannel channel, ByteBuffer page, long position, Path file) throws IOException {
        try {
            return channel.read(page, position) > 0;
        } catch (IOException e) {
            if (!SegmentFile.isLost(e)) {
                throw e;
            }
            LOG.error("page cannot be read: file={}, position={}", file, position, e);
            return false;
        }
    }
}
