package io.tabletrelay.core.server;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.java_websocket.enums.Opcode;
import org.java_websocket.framing.CloseFrame;
import org.java_websocket.framing.Framedata;
import org.jspecify.annotations.Nullable;

/**
 * Cuts what one client sends into frames. Only what a consumer may send gets through: masked, unfragmented, of at most
 * {@code maxPayloadBytes}. After the first violation everything is thrown away. A frame takes memory as its bytes
 * arrive, not as its header promises.
 *
 * <p>Threading: confined to the connection's worker thread.
 */
final class FrameReader {
    private static final int MAX_HEADER_BYTES = 14;
    private static final int MASK_BYTES = 4;
    private static final int MAX_CONTROL_BYTES = 125;
    private static final int FIRST_PAYLOAD_BYTES = 256;

    private final int maxPayloadBytes;
    private final ByteBuffer header = ByteBuffer.allocate(MAX_HEADER_BYTES);
    private byte @Nullable [] payload;
    private int payloadBytes;
    private int filledBytes;
    private boolean broken;

    FrameReader(int maxPayloadBytes) {
        this.maxPayloadBytes = maxPayloadBytes;
        header.limit(2);
    }

    /** Takes all bytes; returns the frames that end in them, and a violation behind them if there is one. */
    List<Framedata> read(ByteBuffer bytes) {
        List<Framedata> frames = new ArrayList<>();
        while (bytes.hasRemaining() && !broken) {
            ClientFrame frame = payload == null ? readHeader(bytes) : readPayload(payload, bytes);
            if (frame != null) {
                broken = frame.violation() != 0;
                frames.add(frame);
            }
        }
        if (broken) {
            bytes.position(bytes.limit());
        }
        return frames;
    }

    private @Nullable ClientFrame readHeader(ByteBuffer bytes) {
        while (header.hasRemaining() && bytes.hasRemaining()) {
            header.put(bytes.get());
        }
        if (header.hasRemaining()) {
            return null;
        }
        if (header.limit() == 2) {
            ClientFrame violation = checkFirstBytes(header.get(0), header.get(1));
            header.limit(2 + lengthBytes() + MASK_BYTES);
            return violation;
        }
        long length = length();
        if (length < 0 || length > maxPayloadBytes) {
            return ClientFrame.violation(CloseFrame.TOOBIG, "frame larger than " + maxPayloadBytes + " bytes");
        }
        if (length < leastLength()) {
            return ClientFrame.violation(CloseFrame.PROTOCOL_ERROR, "length is not in its shortest form");
        }
        payloadBytes = (int) length;
        filledBytes = 0;
        byte[] start = new byte[Math.min(payloadBytes, FIRST_PAYLOAD_BYTES)];
        payload = start;
        return payloadBytes == 0 ? finish(start) : null;
    }

    private static @Nullable ClientFrame checkFirstBytes(byte first, byte second) {
        boolean last = (first & 0x80) != 0;
        int opcode = first & 0x0F;
        boolean control = opcode >= 0x8;
        if ((first & 0x70) != 0) {
            return ClientFrame.violation(CloseFrame.PROTOCOL_ERROR, "reserved bits set");
        }
        if ((second & 0x80) == 0) {
            return ClientFrame.violation(CloseFrame.PROTOCOL_ERROR, "frame not masked");
        }
        if ((opcode > 0x2 && opcode < 0x8) || opcode > 0xA) {
            return ClientFrame.violation(CloseFrame.PROTOCOL_ERROR, "unknown opcode");
        }
        if (control && (!last || (second & 0x7F) > MAX_CONTROL_BYTES)) {
            return ClientFrame.violation(CloseFrame.PROTOCOL_ERROR, "control frame fragmented or too large");
        }
        if (!last || opcode == 0x0) {
            return ClientFrame.violation(CloseFrame.POLICY_VALIDATION, "fragments are not taken");
        }
        return null;
    }

    private @Nullable ClientFrame readPayload(byte[] soFar, ByteBuffer bytes) {
        byte[] target = soFar;
        int n = Math.min(bytes.remaining(), payloadBytes - filledBytes);
        if (filledBytes + n > target.length) {
            target = Arrays.copyOf(target, Math.min(payloadBytes, Math.max(filledBytes + n, 2 * target.length)));
            payload = target;
        }
        bytes.get(target, filledBytes, n);
        filledBytes += n;
        return filledBytes == payloadBytes ? finish(target) : null;
    }

    private ClientFrame finish(byte[] whole) {
        int mask = header.limit() - MASK_BYTES;
        for (int i = 0; i < whole.length; i++) {
            whole[i] ^= header.get(mask + i % MASK_BYTES);
        }
        Opcode opcode = switch (header.get(0) & 0x0F) {
            case 0x1 -> Opcode.TEXT;
            case 0x2 -> Opcode.BINARY;
            case 0x9 -> Opcode.PING;
            case 0xA -> Opcode.PONG;
            default -> Opcode.CLOSING;
        };
        payload = null;
        header.clear().limit(2);
        return ClientFrame.of(opcode, whole);
    }

    private int lengthBytes() {
        return switch (header.get(1) & 0x7F) {
            case 126 -> Short.BYTES;
            case 127 -> Long.BYTES;
            default -> 0;
        };
    }

    /** A length in more bytes than it needs is none (RFC 6455, 5.2). */
    private long leastLength() {
        return switch (lengthBytes()) {
            case Short.BYTES -> MAX_CONTROL_BYTES + 1;
            case Long.BYTES -> 0x1_0000;
            default -> 0;
        };
    }

    private long length() {
        return switch (lengthBytes()) {
            case Short.BYTES -> header.getShort(2) & 0xFFFF;
            case Long.BYTES -> header.getLong(2);
            default -> header.get(1) & 0x7F;
        };
    }
}
