package io.tabletrelay.core.store.log;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A segment's file, to be searched: pages that its disk cannot read look like zeros, so that what lies behind them is found.
 *
 * <p>Threading: confined to the thread that uses it.
 */
final class SegmentBytes implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(SegmentBytes.class);
    private static final int PAGE_BYTES = 4 << 10;

    private final Path file;
    private final FileChannel channel;
    private final ByteBuffer word = ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private boolean saidUnreadable;

    SegmentBytes(Path file, FileChannel channel) {
        this.file = file;
        this.channel = channel;
    }

    static SegmentBytes open(Path file) throws IOException {
        return new SegmentBytes(file, FileChannel.open(file, StandardOpenOption.READ));
    }

    /** Fills the buffer, or as much of it as the file has from there on, and returns how many bytes that were. */
    int read(ByteBuffer target, long position) throws IOException {
        int start = target.position();
        try {
            return readOn(target, position);
        } catch (IOException e) {
            if (!SegmentFile.isUnreadable(e)) {
                throw e;
            }
            sayUnreadable(position, e);
        }
        target.position(start);
        return readAround(target, position);
    }

    /** 0 behind the file's end. */
    int wordAt(long position) throws IOException {
        return read(word.clear(), position) == Integer.BYTES ? word.getInt(0) : 0;
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    private int readOn(ByteBuffer target, long position) throws IOException {
        int bytes = 0;
        while (target.hasRemaining()) {
            int more = channel.read(target, position + bytes);
            if (more < 0) {
                break;
            }
            bytes += more;
        }
        return bytes;
    }

    private int readAround(ByteBuffer target, long position) throws IOException {
        int limit = target.limit();
        long end = Math.min(position + target.remaining(), channel.size());
        for (long at = position; at < end; ) {
            long pageEnd = Math.min(end, (at / PAGE_BYTES + 1) * PAGE_BYTES);
            target.limit(target.position() + (int) (pageEnd - at));
            readPage(target, at);
            at = pageEnd;
        }
        target.limit(limit);
        return (int) Math.max(0, end - position);
    }

    private void readPage(ByteBuffer target, long position) throws IOException {
        int start = target.position();
        try {
            readOn(target, position);
        } catch (IOException e) {
            if (!SegmentFile.isUnreadable(e)) {
                throw e;
            }
            target.position(start);
        }
        while (target.hasRemaining()) {
            target.put((byte) 0);
        }
    }

    private void sayUnreadable(long position, IOException e) {
        if (!saidUnreadable) {
            saidUnreadable = true;
            LOG.error(
                    "disk cannot read a part of the file: file={}, position={} or behind; read around it",
                    file,
                    position,
                    e);
        }
    }
}
