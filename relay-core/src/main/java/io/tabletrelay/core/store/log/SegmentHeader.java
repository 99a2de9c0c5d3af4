package io.tabletrelay.core.store.log;

import io.tabletrelay.core.store.IdRange;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A segment's first record: all that must outlive the deletion of every older segment. Big-endian, version 1:
 *
 * <pre>
 *  0 version u8 | 1 kind u8 | 2 zero u16 | 4 CRC32C i32 over all other bytes
 *  8 first id i64 | 16 pipe epoch i64 | 24 last valid id before i64 | 32 last forced id i64
 * 40 void ids up to the first id i64 | 48 disk bytes of the segment before i64 | 56 checksum of Chronicle's header i32
 * 60 producers i32 | 64 each producer: name length u16, name, sequence i64, first id i64, last id i64, last used ms i64
 * </pre>
 *
 * <p>Threading: immutable.
 *
 * @param firstId id of the first event that this segment may have
 * @param lastValidId highest id before it that has an event; what lies between is void
 * @param forcedId highest id known to be on disk whatever happens to the power
 * @param voidIds how many ids of this pipe below firstId are void
 * @param previousBytes disk bytes of the segment before this one
 * @param birthChecksum of the file's first bytes, see {@link SegmentFile#birthChecksum}
 * @param producers least recently used first
 */
record SegmentHeader(
        long firstId,
        long epoch,
        long lastValidId,
        long forcedId,
        long voidIds,
        long previousBytes,
        int birthChecksum,
        List<ProducerTable.Entry> producers) {
    private static final int PREFIX_BYTES = 64;
    private static final int ENTRY_PREFIX_BYTES = Short.BYTES + 4 * Long.BYTES;

    /** The largest header there can be. */
    static final int MAX_BYTES = PREFIX_BYTES + ProducerTable.CAPACITY * (ENTRY_PREFIX_BYTES + 200);

    SegmentHeader {
        producers = List.copyOf(producers);
    }

    ByteBuffer toBytes() {
        int size = PREFIX_BYTES;
        for (ProducerTable.Entry entry : producers) {
            size += ENTRY_PREFIX_BYTES + RecordFormat.utf8(entry.producer()).length;
        }
        ByteBuffer target = ByteBuffer.allocateDirect(size);
        target.put(RecordFormat.VERSION).put(RecordFormat.SEGMENT_HEADER).putShort((short) 0);
        target.putInt(0).putLong(firstId).putLong(epoch).putLong(lastValidId).putLong(forcedId);
        target.putLong(voidIds).putLong(previousBytes).putInt(birthChecksum).putInt(producers.size());
        for (ProducerTable.Entry entry : producers) {
            byte[] name = RecordFormat.utf8(entry.producer());
            target.putShort((short) name.length).put(name).putLong(entry.sequence());
            target.putLong(entry.ids().first()).putLong(entry.ids().last()).putLong(entry.lastUsedMillis());
        }
        RecordFormat.seal(target, new RecordChecksum(RecordChecksum.NO_SALT));
        return target;
    }

    /** Null if these bytes, from 0 to limit, are no unharmed header. */
    static @Nullable SegmentHeader parse(ByteBuffer source) {
        if (source.limit() < PREFIX_BYTES
                || source.get(0) != RecordFormat.VERSION
                || source.get(1) != RecordFormat.SEGMENT_HEADER
                || source.getInt(RecordFormat.CRC_OFFSET) != new RecordChecksum(RecordChecksum.NO_SALT).of(source)) {
            return null;
        }
        source.position(8);
        long firstId = source.getLong();
        long epoch = source.getLong();
        long lastValidId = source.getLong();
        long forcedId = source.getLong();
        long voidIds = source.getLong();
        long previousBytes = source.getLong();
        int birthChecksum = source.getInt();
        int count = source.getInt();
        List<ProducerTable.Entry> producers = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            byte[] name = new byte[Short.toUnsignedInt(source.getShort())];
            source.get(name);
            producers.add(new ProducerTable.Entry(
                    new String(name, StandardCharsets.UTF_8),
                    source.getLong(),
                    new IdRange(source.getLong(), source.getLong()),
                    source.getLong()));
        }
        return new SegmentHeader(
                firstId, epoch, lastValidId, forcedId, voidIds, previousBytes, birthChecksum, producers);
    }

    SegmentHeader bornAs(int checksum) {
        return new SegmentHeader(firstId, epoch, lastValidId, forcedId, voidIds, previousBytes, checksum, producers);
    }
}
