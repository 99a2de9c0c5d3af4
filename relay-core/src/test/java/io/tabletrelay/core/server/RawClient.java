package io.tabletrelay.core.server;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A client that speaks RFC 6455 by hand, and wrongly where it is told to.
 *
 * <p>Threading: used by one thread.
 */
final class RawClient implements AutoCloseable {
    static final int TEXT = 1;
    static final int BINARY = 2;
    static final int CLOSE = 8;
    static final int PING = 9;
    static final int PONG = 10;

    private static final int TIMEOUT_MILLIS = 20_000;
    private static final String REQUEST = String.join(
            "\r\n",
            "GET / HTTP/1.1",
            "Host: relay",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Version: 13",
            "",
            "");

    private final Socket socket;
    private final DataInputStream in;

    /** A frame from the server. */
    static final class Frame {
        private final int opcode;
        private final byte[] payload;

        Frame(int opcode, byte[] payload) {
            this.opcode = opcode;
            this.payload = payload;
        }

        int opcode() {
            return opcode;
        }

        byte[] payload() {
            return payload;
        }

        String text() {
            return new String(payload, StandardCharsets.UTF_8);
        }

        long eventId() {
            return ByteBuffer.wrap(payload).getLong();
        }

        int closeCode() {
            return ByteBuffer.wrap(payload).getShort() & 0xFFFF;
        }

        String closeReason() {
            return new String(payload, 2, payload.length - 2, StandardCharsets.UTF_8);
        }

        @Override
        public String toString() {
            return "opcode " + opcode + ", " + payload.length + " bytes: "
                    + text().substring(0, Math.min(50, text().length()));
        }
    }

    private RawClient(int port, int receiveBufferBytes) throws IOException {
        socket = new Socket();
        if (receiveBufferBytes > 0) {
            socket.setReceiveBufferSize(receiveBufferBytes);
        }
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), TIMEOUT_MILLIS);
        socket.setSoTimeout(TIMEOUT_MILLIS);
        socket.setTcpNoDelay(true);
        in = new DataInputStream(new BufferedInputStream(socket.getInputStream(), 1 << 16));
    }

    static RawClient tcp(int port) throws IOException {
        return new RawClient(port, 0);
    }

    static RawClient open(int port) throws IOException {
        RawClient client = tcp(port);
        client.handshake();
        return client;
    }

    static RawClient openDialect2(int port) throws IOException {
        return dialect2(tcp(port));
    }

    static RawClient openWithSmallBufferAndDialect2(int port) throws IOException {
        return dialect2(new RawClient(port, 4096));
    }

    private static RawClient dialect2(RawClient client) throws IOException {
        client.bytes(request("Sec-WebSocket-Protocol: tablet-relay.v2"));
        String answer = client.httpAnswer();
        if (!answer.startsWith("HTTP/1.1 101 ") || !answer.contains("Sec-WebSocket-Protocol: tablet-relay.v2\r\n")) {
            throw new IOException("dialect 2 refused: " + answer);
        }
        return client;
    }

    static RawClient openWithSmallBuffer(int port) throws IOException {
        RawClient client = new RawClient(port, 4096);
        client.handshake();
        return client;
    }

    static RawClient bound(int port, String pipe) throws IOException {
        RawClient client = open(port);
        client.line("BIND:" + pipe);
        client.expectText("READY");
        return client;
    }

    static byte[] request() {
        return REQUEST.getBytes(StandardCharsets.US_ASCII);
    }

    static byte[] request(String header) {
        return REQUEST.replaceFirst("\r\n\r\n", "\r\n" + header + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII);
    }

    private void handshake() throws IOException {
        bytes(request());
        String status = httpAnswer();
        if (!status.startsWith("HTTP/1.1 101 ")) {
            throw new IOException("handshake refused: " + status);
        }
    }

    /** Reads up to the blank line. */
    String httpAnswer() throws IOException {
        StringBuilder answer = new StringBuilder();
        while (answer.indexOf("\r\n\r\n") < 0) {
            int next = in.read();
            if (next < 0) {
                throw new EOFException("answer ends: " + answer);
            }
            answer.append((char) next);
        }
        return answer.toString();
    }

    void line(String text) throws IOException {
        frame(TEXT, text.getBytes(StandardCharsets.UTF_8));
    }

    void frame(int opcode, byte[] payload) throws IOException {
        bytes(encode(0x80 | opcode, payload, true));
    }

    void bytes(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
    }

    static byte[] encode(int firstByte, byte[] payload, boolean masked) {
        ByteBuffer frame = ByteBuffer.allocate(payload.length + 14);
        int maskBit = masked ? 0x80 : 0;
        frame.put((byte) firstByte);
        if (payload.length < 126) {
            frame.put((byte) (maskBit | payload.length));
        } else if (payload.length < 65_536) {
            frame.put((byte) (maskBit | 126)).putShort((short) payload.length);
        } else {
            frame.put((byte) (maskBit | 127)).putLong(payload.length);
        }
        byte[] mask = {1, 2, 3, 4};
        if (masked) {
            frame.put(mask);
        }
        for (int i = 0; i < payload.length; i++) {
            frame.put((byte) (masked ? payload[i] ^ mask[i % 4] : payload[i]));
        }
        byte[] encoded = new byte[frame.position()];
        frame.flip().get(encoded);
        return encoded;
    }

    /** The next frame but pings; null at the end of the stream. */
    @Nullable
    Frame next() throws IOException {
        Frame frame = nextOfAny();
        while (frame != null && frame.opcode() == PING) {
            frame = nextOfAny();
        }
        return frame;
    }

    @Nullable
    Frame nextOfAny() throws IOException {
        int first;
        try {
            first = in.read();
        } catch (SocketException e) {
            return null; // reset
        }
        if (first < 0) {
            return null;
        }
        if ((first & 0xF0) != 0x80) {
            throw new IOException("not a final frame: " + first);
        }
        int length = in.readUnsignedByte();
        if (length == 126) {
            length = in.readUnsignedShort();
        } else if (length == 127) {
            length = Math.toIntExact(in.readLong());
        } else if (length > 127) {
            throw new IOException("masked by the server");
        }
        byte[] payload = new byte[length];
        in.readFully(payload);
        return new Frame(first & 0x0F, payload);
    }

    Frame expect(int opcode) throws IOException {
        Frame frame = opcode == PING ? nextOfAny() : next();
        if (frame == null || frame.opcode() != opcode) {
            throw new AssertionError("expected opcode " + opcode + ", got " + frame);
        }
        return frame;
    }

    void expectText(String text) throws IOException {
        String got = expect(TEXT).text();
        if (!got.equals(text)) {
            throw new AssertionError("expected " + text + ", got " + got);
        }
    }

    /** Reads on to the close frame. */
    Frame expectClose() throws IOException {
        Frame frame = next();
        while (frame != null && frame.opcode() != CLOSE) {
            frame = next();
        }
        if (frame == null) {
            throw new AssertionError("the stream ended without a close frame");
        }
        return frame;
    }

    boolean atEnd() throws IOException {
        return next() == null;
    }

    void endOutput() throws IOException {
        socket.shutdownOutput();
    }

    void readToTheEnd() throws IOException {
        while (next() != null) {
            // whatever was on its way
        }
    }

    /** Proves that the connection lives and that everything sent before has been read. */
    void sync() throws IOException {
        frame(PING, new byte[] {42});
        expect(PONG);
    }

    void reset() throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
