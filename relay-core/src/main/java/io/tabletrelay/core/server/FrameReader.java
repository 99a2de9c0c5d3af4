package io.tabletrelay.core.server;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.java_websocket.enums.Opcode;
import org.java_websocket.framing.CloseFrame;
import org.java_websocket.framing.Framedata;
import org.jspecify.annotations.Nullable;

/**
 * Cuts what one client sends into messages. Only what a client may send gets through: masked, of at most the bytes that were
 * allowed, fragmented only in dialect 2. After the first violation everything is thrown away. A message takes memory as its
 * bytes arrive, not as its header promises.
 *
 * <p>Threading: confined to the connection's worker thread.
 */
final class FrameReader {
    private static final int MAX_HEADER_BYTES = 14;
    private static final int MASK_BYTES = 4;
    private static final int MAX_CONTROL_BYTES = 125;
    private static final int FIRST_PAYLOAD_BYTES = 256;
    private static final int CONTINUATION = 0x0;
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private int maxPayloadBytes;
    private boolean takesFragments;
    private final ByteBuffer header = ByteBuffer.allocate(MAX_HEADER_BYTES);
    private byte @Nullable [] payload;
    private int payloadBytes;
    private int filledBytes;
    private boolean broken;
    /** What has come of a fragmented message, or null. */
    private byte @Nullable [] fragments;

    private int fragmentBytes;
    /** Of the first fragment. */
    private int messageOpcode;

    FrameReader(int maxPayloadBytes) {
        this.maxPayloadBytes = maxPayloadBytes;
        header.limit(2);
    }

    /** From now on messages may have that many bytes, and be cut into fragments. */
    void takeMessages(int maxBytes) {
        maxPayloadBytes = maxBytes;
        takesFragments = true;
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
        int before = isControl() ? 0 : fragmentBytes;
        if (length < 0 || length > maxPayloadBytes - before) {
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

    private @Nullable ClientFrame checkFirstBytes(byte first, byte second) {
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
        if ((!last || opcode == CONTINUATION) && !takesFragments) {
            return ClientFrame.violation(CloseFrame.POLICY_VALIDATION, "fragments are not taken");
        }
        if (!control && (opcode == CONTINUATION) != (fragments != null)) {
            return ClientFrame.violation(
                    CloseFrame.PROTOCOL_ERROR, "a fragment of no message, or a message within one");
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

    /** Null if the message goes on. */
    private @Nullable ClientFrame finish(byte[] whole) {
        unmask(whole, header.getInt(header.limit() - MASK_BYTES));
        int opcode = header.get(0) & 0x0F;
        boolean last = (header.get(0) & 0x80) != 0;
        boolean control = isControl();
        payload = null;
        header.clear().limit(2);
        if (control || (last && fragments == null)) {
            return ClientFrame.of(opcode(opcode), whole);
        }
        return addFragment(opcode, whole, last);
    }

    private @Nullable ClientFrame addFragment(int opcode, byte[] fragment, boolean last) {
        byte[] soFar = fragments;
        if (soFar == null) {
            messageOpcode = opcode;
            soFar = fragment;
        } else {
            int total = fragmentBytes + fragment.length;
            if (total > soFar.length) {
                soFar = Arrays.copyOf(
                        soFar, last ? total : Math.min(maxPayloadBytes, Math.max(total, 2 * soFar.length)));
            }
            System.arraycopy(fragment, 0, soFar, fragmentBytes, fragment.length);
        }
        fragments = soFar;
        fragmentBytes += fragment.length;
        if (!last) {
            return null;
        }
        byte[] message = soFar.length == fragmentBytes ? soFar : Arrays.copyOf(soFar, fragmentBytes);
        fragments = null;
        fragmentBytes = 0;
        return ClientFrame.of(opcode(messageOpcode), message);
    }

    /** Eight bytes at a time. */
    private static void unmask(byte[] bytes, int mask) {
        long mask8 = (long) mask << 32 | (mask & 0xFFFF_FFFFL);
        int i = 0;
        for (; i + Long.BYTES <= bytes.length; i += Long.BYTES) {
            LONGS.set(bytes, i, (long) LONGS.get(bytes, i) ^ mask8);
        }
        for (; i < bytes.length; i++) {
            bytes[i] ^= (byte) (mask >>> (24 - 8 * (i % MASK_BYTES)));
        }
    }

    private boolean isControl() {
        return (header.get(0) & 0x08) != 0;
    }

    private static Opcode opcode(int number) {
        return switch (number) {
            case 0x1 -> Opcode.TEXT;
            case 0x2 -> Opcode.BINARY;
            case 0x9 -> Opcode.PING;
            case 0xA -> Opcode.PONG;
            default -> Opcode.CLOSING;
        };
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
