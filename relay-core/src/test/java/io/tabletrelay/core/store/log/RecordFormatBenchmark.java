package io.tabletrelay.core.store.log;

import io.tabletrelay.api.Payload;
import io.tabletrelay.core.store.EventGroup;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** One event of 1 KiB to its record and back, checksum and copy included. */
@State(Scope.Thread)
public class RecordFormatBenchmark {
    private static final int EVENT_BYTES = 1_024;
    private static final int MAX_RECORD_BYTES = 64 << 10;

    private final EventGroup group = new EventGroup(
            List.of(new Payload("application/octet-stream", Map.of(), ByteBuffer.allocate(EVENT_BYTES))), null, 1);
    private final ByteBuffer target = ByteBuffer.allocateDirect(MAX_RECORD_BYTES);
    private final ByteBuffer stored = ByteBuffer.allocateDirect(MAX_RECORD_BYTES);
    private final RecordChecksum checksum = new RecordChecksum(7);
    private final StoredRecord record = new StoredRecord(MAX_RECORD_BYTES, 7);
    private long id;

    public RecordFormatBenchmark() {
        RecordFormat.writeEvent(stored, 1, 1, group, 0, checksum);
    }

    @Benchmark
    public ByteBuffer encode() {
        RecordFormat.writeEvent(target, ++id, 1, group, 0, checksum);
        return target;
    }

    @Benchmark
    public ByteBuffer decode() {
        record.prepare(stored.limit()).put(stored.rewind());
        if (!record.isEvent()) {
            throw new IllegalStateException("the record is not what was written");
        }
        return record.payload();
    }
}
