package io.tabletrelay.core.store.log;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.core.store.StoreException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One record read from a log, in a buffer that the next record overwrites. A large one lies in its thread's buffer, where
 * the next large record of any log overwrites it too.
 *
 * <p>Threading: as its cursor.
 */
final class StoredRecord {
    private final RecordChecksum checksum;
    private final int maxBytes;
    private final ByteBuffer own = ByteBuffer.allocateDirect(ThreadBuffer.OWN_BYTES);
    private final ByteBuffer ownReadOnly = own.asReadOnlyBuffer();
    private ByteBuffer bytes = own;
    private ByteBuffer readOnly = ownReadOnly;

    /** {@code salt}: what the checksums of the log's events begin with. */
    StoredRecord(int maxBytes, long salt) {
        this.maxBytes = maxBytes;
        this.checksum = new RecordChecksum(salt);
    }

    boolean fits(long size) {
        return size >= RecordFormat.EVENT_PREFIX_BYTES && size <= maxBytes;
    }

    /**
     * A buffer for that many bytes, to be filled from 0 to its limit.
     *
     * @throws IllegalArgumentException if no record has so many bytes
     * @throws StoreException if there is no memory for them, which says nothing about the record
     */
    ByteBuffer prepare(long size) {
        if (!fits(size)) {
            throw new IllegalArgumentException("no record has this size: bytes=" + size + ", limit=" + maxBytes);
        }
        use((int) size);
        return bytes.clear().order(ByteOrder.BIG_ENDIAN).limit((int) size); // Chronicle sets its own where it wraps
    }

    private void use(int size) {
        try {
            ThreadBuffer taken = size > own.capacity() ? ThreadBuffer.take(size, maxBytes) : null;
            bytes = taken == null ? own : taken.bytes();
            readOnly = taken == null ? ownReadOnly : taken.readOnly();
        } catch (OutOfMemoryError e) {
            throw new StoreException(
                    ErrorCode.PIPE_FAILED,
                    "event cannot be read, not enough memory: recordBytes=%d, reason=%s"
                            .formatted(size, e.getMessage()),
                    e);
        }
    }

    /** True for an event of a known version, whole and unharmed. */
    boolean isEvent() {
        bytes.position(0);
        return bytes.limit() >= RecordFormat.EVENT_PREFIX_BYTES
                && bytes.get(0) == RecordFormat.VERSION
                && bytes.get(1) == RecordFormat.EVENT
                && payloadOffset() <= bytes.limit()
                && bytes.getInt(RecordFormat.CRC_OFFSET) == checksum.of(bytes);
    }

    int size() {
        return bytes.limit();
    }

    /** All of it, from position to limit, read-only, good until the next record. */
    ByteBuffer bytes() {
        return readOnly.limit(bytes.limit()).position(0);
    }

    long id() {
        return bytes.getLong(8);
    }

    int member() {
        return bytes.getInt(16);
    }

    int groupSize() {
        return bytes.getInt(20);
    }

    long appendedAtMillis() {
        return bytes.getLong(24);
    }

    /** 0: the publish had none. */
    long producerSequence() {
        return bytes.getLong(32);
    }

    /** Ids up to this one were on disk when the record was written; 0: not known. */
    long coveredId() {
        return bytes.getLong(48);
    }

    String producer() {
        return text(RecordFormat.EVENT_PREFIX_BYTES, producerBytes());
    }

    String contentType() {
        return text(RecordFormat.EVENT_PREFIX_BYTES + producerBytes(), contentTypeBytes());
    }

    Map<String, String> headers() {
        if (headerCount() == 0) {
            return Map.of();
        }
        Map<String, String> headers = new HashMap<>();
        int offset = headersOffset();
        for (int i = 0; i < headerCount(); i++) {
            int value = afterField(offset);
            headers.put(field(offset), field(value));
            offset = afterField(value);
        }
        return Map.copyOf(headers);
    }

    /** The header of that name, of ASCII letters; null if there is none. */
    @Nullable
    String header(String name) {
        int offset = headersOffset();
        for (int i = 0; i < headerCount(); i++) {
            int value = afterField(offset);
            if (fieldIs(offset, name)) {
                return field(value);
            }
            offset = afterField(value);
        }
        return null;
    }

    private int headerCount() {
        return Short.toUnsignedInt(bytes.getShort(42));
    }

    private int headersOffset() {
        return RecordFormat.EVENT_PREFIX_BYTES + producerBytes() + contentTypeBytes();
    }

    private int fieldBytes(int offset) {
        return Short.toUnsignedInt(bytes.getShort(offset));
    }

    private int afterField(int offset) {
        return offset + Short.BYTES + fieldBytes(offset);
    }

    private String field(int offset) {
        return text(offset + Short.BYTES, fieldBytes(offset));
    }

    private boolean fieldIs(int offset, String ascii) {
        if (fieldBytes(offset) != ascii.length()) {
            return false;
        }
        for (int i = 0; i < ascii.length(); i++) {
            if (bytes.get(offset + Short.BYTES + i) != ascii.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    /** The payload from position to limit, read-only, good until the next record. */
    ByteBuffer payload() {
        return readOnly.limit(bytes.limit()).position((int) payloadOffset());
    }

    private long payloadOffset() {
        return (long) RecordFormat.EVENT_PREFIX_BYTES
                + producerBytes()
                + contentTypeBytes()
                + Integer.toUnsignedLong(bytes.getInt(44));
    }

    private int producerBytes() {
        return Short.toUnsignedInt(bytes.getShort(2));
    }

    private int contentTypeBytes() {
        return Short.toUnsignedInt(bytes.getShort(40));
    }

    private String text(int offset, int length) {
        byte[] text = new byte[length];
        bytes.get(offset, text);
        return new String(text, StandardCharsets.UTF_8);
    }
}
