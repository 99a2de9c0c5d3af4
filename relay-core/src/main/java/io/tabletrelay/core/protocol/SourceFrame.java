package io.tabletrelay.core.protocol;

import java.nio.ByteBuffer;
import java.util.Map;

/**
 * One event of a producer: {@code [int64 sequence][header block, if so agreed][source bytes]}.
 *
 * <p>Threading: immutable, but for the position of the buffer, which is the reader's.
 *
 * @param sequence whatever number stands there
 * @param bytes a view of the frame, not a copy
 */
public record SourceFrame(long sequence, Map<String, String> headers, ByteBuffer bytes) {
    /** Bytes of a frame beside an event's own, at most. */
    public static final int MAX_OVERHEAD_BYTES = Long.BYTES + Integer.BYTES + HeaderBlock.MAX_BYTES;

    /** The sequence of a frame; throws if it has none from 1. */
    public static long sequence(byte[] frame) throws ProtocolException {
        long sequence = frame.length < Long.BYTES ? 0 : ByteBuffer.wrap(frame).getLong();
        if (sequence < 1) {
            throw new ProtocolException("a frame of " + frame.length + " bytes without a sequence from 1");
        }
        return sequence;
    }

    /** Throws for headers that are none. */
    public static SourceFrame decode(byte[] frame, boolean withHeaders) throws ProtocolException {
        long sequence = sequence(frame);
        ByteBuffer bytes = ByteBuffer.wrap(frame).position(Long.BYTES);
        if (!withHeaders) {
            return new SourceFrame(sequence, Map.of(), bytes.slice());
        }
        long length = bytes.remaining() < Integer.BYTES ? -1 : bytes.getInt() & 0xFFFF_FFFFL;
        if (length < 0 || length > bytes.remaining() || length > HeaderBlock.MAX_BYTES) {
            throw new ProtocolException("a header block that does not fit: bytes=" + length + ", of the frame="
                    + bytes.remaining() + ", limit=" + HeaderBlock.MAX_BYTES);
        }
        Map<String, String> headers =
                length == 0 ? Map.of() : HeaderBlock.decode(frame, bytes.position(), (int) length);
        bytes.position(bytes.position() + (int) length);
        return new SourceFrame(sequence, headers, bytes.slice());
    }
}
