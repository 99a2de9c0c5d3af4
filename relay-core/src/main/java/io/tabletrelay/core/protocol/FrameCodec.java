package io.tabletrelay.core.protocol;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Frames from server to client: RFC 6455, final and never masked. */
public final class FrameCodec {
    /** Most payload bytes of a ping, a pong and a close frame. */
    public static final int MAX_CONTROL_BYTES = 125;

    /** Of the largest frame header. */
    static final int MAX_HEADER_BYTES = 10;

    private static final int FINAL = 0x80;
    private static final int TEXT = 0x1;
    private static final int BINARY = 0x2;
    private static final int CLOSE = 0x8;
    private static final int PING = 0x9;
    private static final int PONG = 0xA;

    private static final int LENGTH_IN_2_BYTES = 126;
    private static final int LENGTH_IN_8_BYTES = 127;
    private static final int MAX_2_BYTE_LENGTH = 0xFFFF;

    private FrameCodec() {}

    /** Bytes on the wire of one event with a payload of that size. */
    public static int eventFrameBytes(int payloadBytes) {
        return frameBytes(Math.addExact(Long.BYTES, payloadBytes));
    }

    /** Writes one event, {@link #eventFrameBytes} bytes; the payload's position and limit stay as they are. */
    public static void putEvent(ByteBuffer target, long id, ByteBuffer payload) {
        int payloadBytes = payload.remaining();
        putHeader(target, BINARY, Long.BYTES + payloadBytes);
        target.putLong(id);
        target.put(target.position(), payload, payload.position(), payloadBytes);
        target.position(target.position() + payloadBytes);
    }

    static void putBinaryHeader(ByteBuffer target, int length) {
        putHeader(target, BINARY, length);
    }

    public static ByteBuffer text(String line) {
        return frame(TEXT, line.getBytes(StandardCharsets.UTF_8));
    }

    /** At most {@link #MAX_CONTROL_BYTES}. */
    public static ByteBuffer ping(byte[] payload) {
        return frame(PING, payload);
    }

    /** At most {@link #MAX_CONTROL_BYTES}. */
    public static ByteBuffer pong(byte[] payload) {
        return frame(PONG, payload);
    }

    /** A reason of more than {@link #MAX_CONTROL_BYTES} - 2 bytes of UTF-8 is cut between two characters. */
    public static ByteBuffer close(int code, String reason) {
        byte[] text = reason.getBytes(StandardCharsets.UTF_8);
        if (text.length > MAX_CONTROL_BYTES - Short.BYTES) {
            int end = MAX_CONTROL_BYTES - Short.BYTES;
            while ((text[end] & 0xC0) == 0x80) {
                end--;
            }
            text = Arrays.copyOf(text, end);
        }
        byte[] payload = ByteBuffer.allocate(Short.BYTES + text.length)
                .putShort((short) code)
                .put(text)
                .array();
        return frame(CLOSE, payload);
    }

    private static ByteBuffer frame(int opcode, byte[] payload) {
        if (opcode >= CLOSE && payload.length > MAX_CONTROL_BYTES) {
            throw new IllegalArgumentException("control frame too large: payloadBytes=" + payload.length);
        }
        ByteBuffer frame = ByteBuffer.allocate(frameBytes(payload.length));
        putHeader(frame, opcode, payload.length);
        return frame.put(payload).flip();
    }

    static int frameBytes(int length) {
        int header = length < LENGTH_IN_2_BYTES ? 2 : length <= MAX_2_BYTE_LENGTH ? 4 : 10;
        return Math.addExact(header, length);
    }

    private static void putHeader(ByteBuffer target, int opcode, int length) {
        target.put((byte) (FINAL | opcode));
        if (length < LENGTH_IN_2_BYTES) {
            target.put((byte) length);
        } else if (length <= MAX_2_BYTE_LENGTH) {
            target.put((byte) LENGTH_IN_2_BYTES).putShort((short) length);
        } else {
            target.put((byte) LENGTH_IN_8_BYTES).putLong(length);
        }
    }
}
