package io.tabletrelay.core.protocol;

import java.nio.ByteBuffer;
import java.util.Map;

/**
 * A frame of dialect 2 while records are put into it: each {@code [int64 id][int64 appended-at ms][uint16 delivery][uint16
 * flags][uint32 length]}, a header block if there are headers, the payload. The frame's own header, whose size depends on
 * all of it, is written last.
 *
 * <p>Threading: guarded by the lock of who uses it.
 */
public final class BatchFrame {
    /** Most bytes of all records, unless there is only one. */
    public static final int MAX_BYTES = 256 * 1024;

    /** Of one record, without headers and payload. */
    public static final int RECORD_BYTES = 2 * Long.BYTES + 2 * Short.BYTES + Integer.BYTES;

    private static final int FIRST_BYTES = 1024;
    private static final int HAS_HEADERS = 1;
    private static final int MOST_DELIVERIES = 0xFFFF;
    private static final byte[] NO_HEADERS = new byte[0];

    private ByteBuffer buffer = ByteBuffer.allocate(0);
    private int records;
    /** About what the last frame took: the next one begins with that. */
    private int usualBytes = FIRST_BYTES;

    public boolean isEmpty() {
        return records == 0;
    }

    /** The JSON of a record's headers; empty without any. */
    public static byte[] headers(Map<String, String> headers) {
        return headers.isEmpty() ? NO_HEADERS : HeaderBlock.encode(headers);
    }

    private static int recordBytes(byte[] headers, int payloadBytes) {
        int block = headers.length == 0 ? 0 : Integer.BYTES + headers.length;
        return Math.addExact(RECORD_BYTES + block, payloadBytes);
    }

    /** False if the record needs a frame of its own behind this one. */
    public boolean takes(byte[] headers, int payloadBytes, int mostRecords) {
        return records == 0
                || (records < mostRecords && contentBytes() + (long) recordBytes(headers, payloadBytes) <= MAX_BYTES);
    }

    /**
     * Copies the record; the payload's position and limit stay as they are.
     *
     * @param headers what {@link #headers} made of them
     */
    public void put(long id, long appendedAtMillis, int delivery, byte[] headers, ByteBuffer payload) {
        int payloadBytes = payload.remaining();
        makeRoom(recordBytes(headers, payloadBytes));
        buffer.putLong(id)
                .putLong(appendedAtMillis)
                .putShort((short) Math.min(delivery, MOST_DELIVERIES))
                .putShort((short) (headers.length == 0 ? 0 : HAS_HEADERS))
                .putInt(payloadBytes);
        if (headers.length > 0) {
            buffer.putInt(headers.length).put(headers);
        }
        buffer.put(buffer.position(), payload, payload.position(), payloadBytes);
        buffer.position(buffer.position() + payloadBytes);
        records++;
    }

    private void makeRoom(int bytes) {
        if (records == 0) {
            buffer = ByteBuffer.allocate(FrameCodec.MAX_HEADER_BYTES + Math.max(usualBytes, bytes));
            buffer.position(FrameCodec.MAX_HEADER_BYTES);
        } else if (buffer.remaining() < bytes) {
            int needed = buffer.position() + bytes;
            int most = FrameCodec.MAX_HEADER_BYTES + MAX_BYTES;
            buffer = ByteBuffer.allocate(Math.max(needed, Math.min(most, 2 * buffer.capacity())))
                    .put(buffer.flip());
        }
    }

    private int contentBytes() {
        return records == 0 ? 0 : buffer.position() - FrameCodec.MAX_HEADER_BYTES;
    }

    /** Bytes on the wire of what is in it; 0 if nothing is. */
    public int frameBytes() {
        return records == 0 ? 0 : FrameCodec.frameBytes(contentBytes());
    }

    /** The whole frame, ready to be written; this one is empty then. */
    public ByteBuffer take() {
        ByteBuffer frame = buffer;
        int content = contentBytes();
        int start = FrameCodec.MAX_HEADER_BYTES - (FrameCodec.frameBytes(content) - content);
        frame.flip().position(start);
        FrameCodec.putBinaryHeader(frame, content);
        frame.position(start);
        usualBytes = Math.max(FIRST_BYTES, Math.min(MAX_BYTES, content + content / 4));
        buffer = ByteBuffer.allocate(0);
        records = 0;
        return frame;
    }
}
