package io.tabletrelay.harness.bench.client;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * A WebSocket client that costs as little as one can: large reads, payloads never copied, and all that a read is answered
 * with in one write.
 *
 * <p>Threading: confined to one thread.
 */
final class RawSocket implements AutoCloseable {
    static final int TEXT = 0x1;
    static final int BINARY = 0x2;
    static final int CLOSE = 0x8;
    static final int PING = 0x9;
    static final int PONG = 0xA;

    static final int MASK = 0x1a2b3c4d;

    private static final int[] MASK_BYTES = {MASK >>> 24, MASK >>> 16 & 0xff, MASK >>> 8 & 0xff, MASK & 0xff};
    private static final int READ_BYTES = 1 << 20;
    private static final int WRITE_BYTES = 256 << 10;
    private static final int FRAME_HEADER_BYTES = 14;
    private static final Duration HANDSHAKE_TIMEOUT = Duration.ofSeconds(30);

    /** What a frame is given to; pings are answered and closes thrown before. */
    interface Frames {
        /** The payload begins at the buffer's position, which may be moved. */
        void frame(int opcode, ByteBuffer in, int length) throws IOException;
    }

    private final SocketChannel socket;
    private final Selector selector;
    private final Frames frames;
    private final ByteBuffer in = ByteBuffer.allocateDirect(READ_BYTES);
    private final ByteBuffer out = ByteBuffer.allocateDirect(WRITE_BYTES);
    private long readNanos;

    private RawSocket(SocketChannel socket, Selector selector, Frames frames) {
        this.socket = socket;
        this.selector = selector;
        this.frames = frames;
    }

    /**
     * Returns when the handshake is done.
     *
     * @param headers further ones of the request, each ended with a line break
     */
    static RawSocket connect(int port, String headers, Frames frames) throws IOException {
        SocketChannel socket = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
        socket.configureBlocking(false);
        Selector selector = Selector.open();
        socket.register(selector, SelectionKey.OP_READ);
        RawSocket raw = new RawSocket(socket, selector, frames);
        raw.out.put(("GET / HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\nUpgrade: websocket\r\n"
                        + "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" + headers + "\r\n")
                .getBytes(StandardCharsets.US_ASCII));
        raw.flush();
        raw.readHandshake(System.nanoTime() + HANDSHAKE_TIMEOUT.toNanos());
        return raw;
    }

    private void readHandshake(long endNanos) throws IOException {
        while (true) {
            if (read() == 0) {
                await(endNanos);
            }
            String head =
                    StandardCharsets.ISO_8859_1.decode(in.duplicate().flip()).toString();
            int end = head.indexOf("\r\n\r\n");
            if (end >= 0) {
                if (!head.startsWith("HTTP/1.1 101 ")) {
                    throw new IOException(
                            "no WebSocket: " + head.lines().findFirst().orElse(""));
                }
                in.flip().position(end + 4);
                in.compact();
                return;
            }
        }
    }

    /** When something was last read. */
    long readNanos() {
        return readNanos;
    }

    /** Waits for bytes if there are none, and takes the frames that are whole. */
    void readMore(long endNanos) throws IOException {
        if (read() == 0) {
            await(endNanos);
        } else {
            takeFrames();
        }
    }

    /** Takes what is there, without waiting. */
    void poll() throws IOException {
        if (read() > 0) {
            takeFrames();
        }
    }

    /** Takes what came with the handshake. */
    void takeFrames() throws IOException {
        in.flip();
        while (in.remaining() >= 2) {
            int start = in.position();
            int shortLength = in.get(start + 1);
            int headerBytes = shortLength == 126 ? 4 : shortLength == 127 ? 10 : 2;
            if (in.remaining() < headerBytes) {
                break;
            }
            long length = shortLength == 126
                    ? in.getShort(start + 2) & 0xffff
                    : shortLength == 127 ? in.getLong(start + 2) : shortLength;
            if (in.remaining() < headerBytes + length) {
                break;
            }
            in.position(start + headerBytes);
            take(in.get(start) & 0x0f, (int) length);
            in.position(start + headerBytes + (int) length);
        }
        in.compact();
        flush();
    }

    private void take(int opcode, int length) throws IOException {
        switch (opcode) {
            case TEXT, BINARY -> frames.frame(opcode, in, length);
            case PING -> put(PONG, bytes(in, length));
            case CLOSE ->
                throw new EOFException("connection closed by the server: code="
                        + (length < 2 ? 0 : in.getShort(in.position()) & 0xffff));
            default -> throw new IOException("not a server's frame: opcode=" + opcode);
        }
    }

    /** Takes the next bytes out of the buffer. */
    static byte[] bytes(ByteBuffer in, int length) {
        byte[] bytes = new byte[length];
        in.get(bytes);
        return bytes;
    }

    private int read() throws IOException {
        int n = socket.read(in);
        if (n < 0) {
            throw new EOFException("connection ended by the server");
        }
        readNanos = System.nanoTime();
        return n;
    }

    private void await(long endNanos) throws IOException {
        long leftMillis = (endNanos - System.nanoTime()) / 1_000_000;
        if (leftMillis <= 0) {
            throw new IOException("nothing came in time");
        }
        selector.select(leftMillis);
        selector.selectedKeys().clear();
    }

    /** A frame of at most 125 bytes, which leaves at the next {@link #flush}. */
    void put(int opcode, byte[] payload) throws IOException {
        ByteBuffer target = room(FRAME_HEADER_BYTES + payload.length);
        target.put((byte) (0x80 | opcode)).put((byte) (0x80 | payload.length)).putInt(MASK);
        for (int i = 0; i < payload.length; i++) {
            target.put((byte) (payload[i] ^ MASK_BYTES[i & 3]));
        }
    }

    /** A buffer with room for that many bytes, into which a whole frame is put. */
    ByteBuffer room(int bytes) throws IOException {
        if (out.remaining() < bytes) {
            flush();
        }
        return out;
    }

    /** The byte as it goes over the wire at that place of a payload that is masked with {@link #MASK}. */
    static byte masked(int value, int place) {
        return (byte) (value ^ MASK_BYTES[place & 3]);
    }

    void flush() throws IOException {
        out.flip();
        while (out.hasRemaining()) {
            if (socket.write(out) == 0) {
                Thread.onSpinWait(); // the server reads all the time, whatever it writes
            }
        }
        out.clear();
    }

    @Override
    public void close() throws IOException {
        selector.close();
        socket.close();
    }
}
