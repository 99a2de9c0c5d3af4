package io.tabletrelay.harness.bench.client;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A producer of dialect 2: one event a frame, as many unanswered as its credit allows.
 *
 * <p>Threading: confined to one thread.
 */
public final class FramePublisher implements AutoCloseable {
    private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(30);
    private static final Pattern CREDIT = Pattern.compile("\"credit\":(\\d+)");
    private static final Pattern LAST = Pattern.compile("\"last\":(\\d+)");
    private static final String STORED = "STORED:";
    private static final int LARGEST_HEADER_BYTES = 14;

    private final RawSocket socket;
    private final byte[] masked;
    private int credit;
    private long sent;
    private long stored;

    private FramePublisher(int port, int eventBytes) throws IOException {
        // the payload is all zeros: masked, it is the mask itself
        this.masked = new byte[eventBytes];
        for (int i = 0; i < eventBytes; i++) {
            masked[i] = RawSocket.masked(0, i);
        }
        this.socket = RawSocket.connect(port, "Sec-WebSocket-Protocol: tablet-relay.v2\r\n", this::frame);
    }

    /** Connects and asks to publish under that name; returns when it may. */
    public static FramePublisher open(int port, String pipe, String producer, int eventBytes) throws IOException {
        FramePublisher publisher = new FramePublisher(port, eventBytes);
        publisher.socket.put(
                RawSocket.TEXT,
                ("PUBLISH:" + pipe + "?producer=" + producer + "&type=bytes").getBytes(StandardCharsets.UTF_8));
        publisher.socket.takeFrames();
        long endNanos = System.nanoTime() + ANSWER_TIMEOUT.toNanos();
        while (publisher.credit == 0) {
            publisher.socket.readMore(endNanos);
        }
        return publisher;
    }

    /** Publishes that many events; returns when the last of them is stored. */
    public long publish(long events, Duration patience) throws IOException {
        long endNanos = System.nanoTime() + patience.toNanos();
        long last = sent + events;
        while (stored < last) {
            while (sent < last && sent - stored < credit) {
                put(++sent);
            }
            socket.flush();
            socket.readMore(endNanos);
        }
        return socket.readNanos();
    }

    private void put(long sequence) throws IOException {
        int length = Long.BYTES + masked.length;
        ByteBuffer out = socket.room(LARGEST_HEADER_BYTES + length);
        out.put((byte) (0x80 | RawSocket.BINARY));
        if (length < 126) {
            out.put((byte) (0x80 | length));
        } else if (length <= 0xffff) {
            out.put((byte) (0x80 | 126)).putShort((short) length);
        } else {
            out.put((byte) (0x80 | 127)).putLong(length);
        }
        out.putInt(RawSocket.MASK);
        out.putLong(sequence ^ ((long) RawSocket.MASK << 32 | RawSocket.MASK));
        out.put(masked);
    }

    private void frame(int opcode, ByteBuffer in, int length) throws IOException {
        String line = new String(RawSocket.bytes(in, length), StandardCharsets.UTF_8);
        if (line.startsWith(STORED)) {
            stored = Long.parseLong(line.substring(STORED.length()));
        } else if (line.startsWith("READY:")) {
            sent = number(LAST, line);
            stored = sent;
            credit = (int) number(CREDIT, line);
        } else {
            throw new IOException("publish was refused: answer=" + line);
        }
    }

    private static long number(Pattern pattern, String line) throws IOException {
        Matcher matcher = pattern.matcher(line);
        if (!matcher.find()) {
            throw new IOException("answer says too little: answer=" + line);
        }
        return Long.parseLong(matcher.group(1));
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
