package io.tabletrelay.harness;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A WebSocket client on a plain socket that does what it is told and nothing else: it reads only while {@link #read} is
 * called, and can break every rule.
 *
 * <p>Threading: read by one thread; sending and closing are thread-safe by the socket's own locks.
 */
public final class RawClient implements AutoCloseable {
    public static final int TEXT = 1;
    public static final int BINARY = 2;
    public static final int CLOSE = 8;
    public static final int PING = 9;
    public static final int PONG = 10;

    private static final int CONNECT_TIMEOUT_MILLIS = 10_000;
    private static final Duration HANDSHAKE_TIMEOUT = Duration.ofSeconds(30);
    private static final byte[] LOOPBACK = {127, 0, 0, 1};
    private static final byte[] MASK = {1, 2, 3, 4};

    private final Socket socket;
    private ByteBuffer unread = ByteBuffer.allocate(16_384).limit(0);
    private volatile boolean answersPings = true;

    private RawClient(Socket socket) {
        this.socket = socket;
    }

    /** Opens a TCP connection and leaves it at that. */
    public static RawClient tcp(int port) throws IOException {
        Socket socket = new Socket();
        socket.setTcpNoDelay(true);
        socket.connect(new InetSocketAddress(InetAddress.getByAddress(LOOPBACK), port), CONNECT_TIMEOUT_MILLIS);
        return new RawClient(socket);
    }

    /** Opens a WebSocket, as dialect 1 does: without a subprotocol. */
    public static RawClient connect(int port) throws IOException {
        RawClient client = tcp(port);
        try {
            String head = client.handshake("");
            if (!head.startsWith("HTTP/1.1 101 ")) {
                throw new IOException(
                        "no WebSocket: " + head.lines().findFirst().orElse(""));
            }
        } catch (IOException e) {
            client.reset();
            throw e;
        }
        return client;
    }

    /**
     * Sends a handshake and returns the head of the answer.
     *
     * @param moreHeaders whole header lines, each with its line end
     */
    public String handshake(String moreHeaders) throws IOException {
        sendBytes(("GET / HTTP/1.1\r\nHost: 127.0.0.1:" + socket.getPort()
                        + "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" + moreHeaders + "\r\n")
                .getBytes(StandardCharsets.US_ASCII));
        long endNanos = System.nanoTime() + HANDSHAKE_TIMEOUT.toNanos();
        while (true) {
            String text = StandardCharsets.ISO_8859_1.decode(unread.duplicate()).toString();
            int end = text.indexOf("\r\n\r\n");
            if (end >= 0) {
                unread.position(unread.position() + end + 4);
                return text.substring(0, end);
            }
            if (!readMore(endNanos)) {
                throw new SocketTimeoutException("no answer to the handshake: received=" + text.length() + " bytes");
            }
        }
    }

    /** Bytes in the socket's receive buffer are all that the kernel takes while nothing is read. */
    public void receiveBuffer(int bytes) throws IOException {
        socket.setReceiveBufferSize(bytes);
    }

    /** Off: pings are returned by {@link #read} like any frame, and nobody answers them. */
    public void answerPings(boolean answer) {
        answersPings = answer;
    }

    /** Sends one text frame as it should be. */
    public void sendText(String line) throws IOException {
        sendFrame(TEXT, true, true, line.getBytes(StandardCharsets.UTF_8));
    }

    /** Sends one frame, right or wrong. */
    public void sendFrame(int opcode, boolean last, boolean masked, byte[] payload) throws IOException {
        sendBytes(encode(opcode, last, masked, payload));
    }

    /** Sends the beginning of a frame and keeps the rest. */
    public void sendHalfFrame(int opcode, byte[] payload) throws IOException {
        byte[] frame = encode(opcode, true, true, payload);
        sendBytes(Arrays.copyOf(frame, frame.length / 2));
    }

    /** Sends anything. */
    public void sendBytes(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
    }

    private static byte[] encode(int opcode, boolean last, boolean masked, byte[] payload) {
        ByteBuffer frame = ByteBuffer.allocate(14 + payload.length);
        frame.put((byte) ((last ? 0x80 : 0) | opcode));
        int maskBit = masked ? 0x80 : 0;
        if (payload.length < 126) {
            frame.put((byte) (maskBit | payload.length));
        } else if (payload.length < 65_536) {
            frame.put((byte) (maskBit | 126)).putShort((short) payload.length);
        } else {
            frame.put((byte) (maskBit | 127)).putLong(payload.length);
        }
        if (masked) {
            frame.put(MASK);
        }
        for (int i = 0; i < payload.length; i++) {
            frame.put((byte) (masked ? payload[i] ^ MASK[i % 4] : payload[i]));
        }
        return Arrays.copyOf(frame.array(), frame.position());
    }

    /**
     * Reads the next frame; null if none is complete in time.
     *
     * @throws EOFException if the other side has ended the connection
     */
    public @Nullable Frame read(Duration timeout) throws IOException {
        long endNanos = System.nanoTime() + timeout.toNanos();
        while (true) {
            Frame frame = parse();
            if (frame == null) {
                if (!readMore(endNanos)) {
                    return null;
                }
            } else if (frame.opcode() == PING && answersPings) {
                sendFrame(PONG, true, true, bytes(frame.payload()));
            } else {
                return frame;
            }
        }
    }

    /** Reads the next frame, which must be there in time. */
    public Frame next(Duration timeout) throws IOException {
        Frame frame = read(timeout);
        if (frame == null) {
            throw new SocketTimeoutException(
                    "no frame came: waited=" + timeout + ", unread bytes=" + unread.remaining());
        }
        return frame;
    }

    private static byte[] bytes(ByteBuffer payload) {
        byte[] bytes = new byte[payload.remaining()];
        payload.duplicate().get(bytes);
        return bytes;
    }

    private @Nullable Frame parse() throws IOException {
        ByteBuffer in = unread.duplicate();
        if (in.remaining() < 2) {
            return null;
        }
        int first = in.get();
        int second = in.get();
        int lengthBytes = second == 126 ? 2 : second == 127 ? 8 : 0;
        if (in.remaining() < lengthBytes) {
            return null;
        }
        long length = lengthBytes == 2 ? in.getShort() & 0xffff : lengthBytes == 8 ? in.getLong() : second;
        if (second < 0 || length < 0 || length > 64 << 20) {
            throw new IOException("not a server's frame: first=" + first + ", second=" + second);
        }
        if (in.remaining() < length) {
            return null;
        }
        byte[] payload = new byte[(int) length];
        in.get(payload);
        unread.position(in.position());
        return new Frame(first & 0x0f, first < 0, ByteBuffer.wrap(payload));
    }

    /** Returns false when time is up. */
    private boolean readMore(long endNanos) throws IOException {
        long leftMillis = (endNanos - System.nanoTime() + 999_999) / 1_000_000;
        if (leftMillis <= 0 && socket.getInputStream().available() == 0) {
            return false;
        }
        socket.setSoTimeout((int) Math.max(1, leftMillis));
        makeRoom();
        int n;
        try {
            n = socket.getInputStream().read(unread.array(), unread.limit(), unread.capacity() - unread.limit());
        } catch (SocketTimeoutException e) {
            return false;
        }
        if (n < 0) {
            throw new EOFException("connection ended by the other side: port=" + socket.getPort());
        }
        unread.limit(unread.limit() + n);
        return true;
    }

    /** Behind the limit there is space for more bytes. */
    private void makeRoom() {
        if (unread.limit() < unread.capacity()) {
            return;
        }
        ByteBuffer more = unread.remaining() > unread.capacity() / 2
                ? ByteBuffer.allocate(2 * unread.capacity()).put(unread)
                : unread.compact();
        unread = more.flip();
    }

    /** Ends the connection with a TCP reset, as a crash or a broken line would. */
    public void reset() {
        try (Socket closing = socket) {
            closing.setSoLinger(true, 0);
        } catch (IOException e) {
            // it is gone either way
        }
    }

    /** Ends the connection with a FIN and no close frame. */
    @Override
    public void close() throws IOException {
        socket.close();
    }

    /**
     * One frame as it came.
     *
     * @param payload from its position to its limit
     */
    public record Frame(int opcode, boolean last, ByteBuffer payload) {
        /** The payload as text. */
        public String text() {
            return StandardCharsets.UTF_8.decode(payload.duplicate()).toString();
        }

        /** An event's id: the first eight bytes of a data frame. */
        public long eventId() {
            return payload.getLong(payload.position());
        }

        /** An event's payload: what is behind the id. */
        public ByteBuffer event() {
            return payload.slice(Long.BYTES, payload.remaining() - Long.BYTES);
        }

        /** A close frame's code. */
        public int closeCode() {
            return payload.remaining() < 2 ? 1005 : payload.getShort(payload.position()) & 0xffff;
        }
    }
}
