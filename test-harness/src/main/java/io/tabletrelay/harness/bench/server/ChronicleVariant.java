package io.tabletrelay.harness.bench.server;

import io.tabletrelay.core.store.log.EventLogs;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import net.openhft.chronicle.bytes.Bytes;
import net.openhft.chronicle.queue.ChronicleQueue;
import net.openhft.chronicle.queue.ExcerptAppender;
import net.openhft.chronicle.queue.ExcerptTailer;
import net.openhft.chronicle.queue.RollCycles;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueueBuilder;
import net.openhft.chronicle.wire.DocumentContext;

/**
 * The storage library alone: one thread appends a batch and reads it back, as a pipe's transfer thread does.
 *
 * <p>Threading: as {@link ServedVariant} says.
 */
final class ChronicleVariant implements ServedVariant {
    private static final int BLOCK_BYTES = 64 << 20;
    private static final int BATCH_EVENTS = 256;

    private final int eventBytes;
    private final ChronicleQueue queue;
    private volatile long read;

    ChronicleVariant(Load load, Path data) {
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
        ByteBuffer target = ByteBuffer.allocateDirect(Long.BYTES + eventBytes);
        try (ExcerptAppender appender = queue.createAppender();
                ExcerptTailer tailer = queue.createTailer()) {
            for (long done = 0; done < events; ) {
                int batch = (int) Math.min(BATCH_EVENTS, events - done);
                for (int i = 0; i < batch; i++) {
                    appender.writeBytes(event.readPositionRemaining(0, Long.BYTES + eventBytes));
                }
                for (int i = 0; i < batch; i++) {
                    read(tailer, target);
                }
                done += batch;
                read = done;
            }
        }
    }

    private static void read(ExcerptTailer tailer, ByteBuffer target) throws IOException {
        try (DocumentContext document = tailer.readingDocument()) {
            if (!document.isPresent()) {
                throw new IOException("event is not where it was appended");
            }
            document.wire().bytes().read(target.clear());
        }
    }

    @Override
    public void pace(int eventsPerSecond, long events) {
        throw new UnsupportedOperationException("nobody is served here");
    }

    @Override
    public long settled() {
        return read;
    }

    @Override
    public void stop() {
        queue.close();
    }
}
