package io.tabletrelay.harness.bench.server;

import io.tabletrelay.core.store.log.EventLogs;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import net.openhft.chronicle.bytes.Bytes;
import net.openhft.chronicle.queue.ChronicleQueue;
import net.openhft.chronicle.queue.ExcerptAppender;
import net.openhft.chronicle.queue.RollCycles;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueueBuilder;

/**
 * The storage library alone, at its most durable: one thread appends as many events as a relay has outstanding and forces them.
 *
 * <p>Threading: as {@link ServedVariant} says.
 */
final class ForcedVariant implements ServedVariant {
    private static final int BLOCK_BYTES = 64 << 20;

    private final int eventBytes;
    private final ChronicleQueue queue;
    private volatile long forced;

    ForcedVariant(Load load, Path data) {
        this.eventBytes = load.eventBytes();
        EventLogs.prepare();
        this.queue = SingleChronicleQueueBuilder.binary(data)
                .rollCycle(RollCycles.FAST_DAILY)
                .blockSize(BLOCK_BYTES)
                .indexCount(1024)
                .indexSpacing(32)
                .build();
    }

    @Override
    public void push(long events) throws IOException {
        Bytes<ByteBuffer> event = Bytes.wrapForRead(ByteBuffer.allocateDirect(Long.BYTES + eventBytes));
        try (ExcerptAppender appender = queue.createAppender()) {
            append(appender, event, 1);
            try (FileChannel channel = FileChannel.open(appender.currentFile().toPath(), StandardOpenOption.WRITE)) {
                for (long done = 1; done < events; ) {
                    int group = (int) Math.min(RelayVariant.MOST_AT_DISK, events - done);
                    append(appender, event, group);
                    channel.force(false);
                    done += group;
                    forced = done;
                }
            }
        }
        event.releaseLast();
    }

    private void append(ExcerptAppender appender, Bytes<ByteBuffer> event, int count) {
        for (int i = 0; i < count; i++) {
            appender.writeBytes(event.readPositionRemaining(0, Long.BYTES + eventBytes));
        }
    }

    @Override
    public void pace(int eventsPerSecond, long events) {
        throw new UnsupportedOperationException("nobody is served here");
    }

    @Override
    public long settled() {
        return forced;
    }

    @Override
    public void stop() {
        queue.close();
    }
}
