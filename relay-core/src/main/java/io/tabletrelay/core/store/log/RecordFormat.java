package io.tabletrelay.core.store.log;

import io.tabletrelay.api.Payload;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.core.store.EventGroup;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of one record, big-endian, and how an event is written as one. Version 1:
 *
 * <pre>
 *  0 version u8 | 1 kind u8 | 2 producer name length u16 | 4 CRC32C i32 over the log's salt, i64, and all other bytes
 *  8 id i64 | 16 number in its group from 1, i32 | 20 group size i32 | 24 appended at, ms, i64
 * 32 producer sequence i64, 0: none | 40 content type length u16 | 42 header count u16 | 44 headers length i32
 * 48 covered i64: ids up to this one were on disk when this one was written; 0: not known
 * 56 producer name | content type | headers: key length u16, key, value length u16, value | payload to the end
 * </pre>
 *
 * <p>Threading: immutable.
 */
final class RecordFormat {
    static final byte VERSION = 1;
    static final byte SEGMENT_HEADER = 1;
    static final byte EVENT = 2;

    /** Taken, so that no other kind gets the number; nobody writes it yet. */
    static final byte END_OF_STREAM = 3;

    static final int CRC_OFFSET = 4;
    static final int ID_OFFSET = 8;
    static final int EVENT_PREFIX_BYTES = 56;
    static final int MAX_CONTENT_TYPE_BYTES = 255;
    static final int MAX_HEADERS_BYTES = 16 << 10;
    static final int MAX_ENVELOPE_BYTES =
            EVENT_PREFIX_BYTES + ProducerSequence.MAX_NAME_BYTES + MAX_CONTENT_TYPE_BYTES + MAX_HEADERS_BYTES;

    private static final int MOST_COUNTED_BYTES = 0xFFFF;
    private static final int MOST_BYTES_OF_CHAR = 3;

    private RecordFormat() {}

    /** How many bytes {@link #writeEvent} will write. */
    static int eventBytes(Payload payload, @Nullable ProducerSequence sequence) {
        int producerBytes = sequence == null ? 0 : utf8Bytes(sequence.producer());
        return EVENT_PREFIX_BYTES
                + producerBytes
                + utf8Bytes(payload.contentType())
                + headersBytes(payload.headers())
                + payload.size();
    }

    /** Why no record can carry this payload's envelope, or null if one can. */
    static @Nullable String envelopeProblem(Payload payload) {
        String contentType = payload.contentType();
        if (MOST_BYTES_OF_CHAR * contentType.length() > MAX_CONTENT_TYPE_BYTES
                && utf8Bytes(contentType) > MAX_CONTENT_TYPE_BYTES) {
            return "contentTypeBytes=" + utf8Bytes(contentType) + ", limit=" + MAX_CONTENT_TYPE_BYTES;
        }
        int headersBytes = headersBytes(payload.headers());
        return headersBytes > MAX_HEADERS_BYTES
                ? "headersBytes=" + headersBytes + ", limit=" + MAX_HEADERS_BYTES
                : null;
    }

    /** Writes the record from the buffer's start and leaves it from position 0 to limit. */
    static void writeEvent(
            ByteBuffer target, long id, int member, EventGroup group, long coveredId, RecordChecksum checksum) {
        Payload payload = group.payloads().get(member - 1);
        ProducerSequence sequence = group.sequence();
        byte[] producer = sequence == null ? new byte[0] : utf8(sequence.producer());
        byte[] contentType = utf8(payload.contentType());
        target.clear().order(ByteOrder.BIG_ENDIAN); // Chronicle sets its own in buffers that it wraps
        target.put(VERSION).put(EVENT).putShort((short) producer.length).putInt(0);
        target.putLong(id).putInt(member).putInt(group.size()).putLong(group.appendedAtMillis());
        target.putLong(sequence == null ? 0 : sequence.sequence());
        target.putShort((short) contentType.length)
                .putShort((short) payload.headers().size());
        target.putInt(headersBytes(payload.headers()))
                .putLong(coveredId)
                .put(producer)
                .put(contentType);
        payload.headers().forEach((key, value) -> putField(putField(target, key), value));
        target.put(payload.bytes().duplicate());
        seal(target, checksum);
    }

    /** Puts the checksum into the record that ends at the buffer's position, and leaves it from position 0 to limit. */
    static void seal(ByteBuffer record, RecordChecksum checksum) {
        record.flip();
        record.putInt(CRC_OFFSET, checksum.of(record));
    }

    static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static ByteBuffer putField(ByteBuffer target, String text) {
        byte[] bytes = utf8(text);
        return target.putShort((short) bytes.length).put(bytes);
    }

    private static int headersBytes(Map<String, String> headers) {
        if (headers.isEmpty()) {
            return 0;
        }
        long bytes = 0;
        for (Map.Entry<String, String> header : headers.entrySet()) {
            bytes += 2L * Short.BYTES + utf8Bytes(header.getKey()) + utf8Bytes(header.getValue());
        }
        return (int) Math.min(bytes, MOST_COUNTED_BYTES);
    }

    private static int utf8Bytes(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) >= 0x80) {
                return utf8(text).length;
            }
        }
        return text.length();
    }
}
