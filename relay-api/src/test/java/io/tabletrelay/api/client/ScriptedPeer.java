package io.tabletrelay.api.client;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * One connection of a {@link ScriptedServer}.
 *
 * <p>Threading: a daemon thread reads; the test takes what came and sends.
 */
final class ScriptedPeer {
    private final Socket socket;
    private final DataInputStream in;
    private final DataOutputStream out;
    private final BlockingQueue<Message> messages = new LinkedBlockingQueue<>();
    private final AtomicInteger pongs = new AtomicInteger();

    ScriptedPeer(Socket socket) throws IOException {
        this.socket = socket;
        in = new DataInputStream(new BufferedInputStream(socket.getInputStream(), 1 << 16));
        out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream(), 1 << 16));
    }

    /** What came: a line, a frame, or the end with its close code (1006: none). */
    record Message(@Nullable String line, @Nullable ByteBuffer frame, int closeCode) {
        String text() {
            if (line == null) {
                throw new AssertionError("not a line but " + this);
            }
            return line;
        }

        ByteBuffer bytes() {
            if (frame == null) {
                throw new AssertionError("not a frame but " + this);
            }
            return frame;
        }
    }

    boolean handshake(String subprotocolHeader) throws IOException {
        String key = "";
        for (String line = headLine(); !line.isEmpty(); line = headLine()) {
            if (line.startsWith("Sec-WebSocket-Key: ")) {
                key = line.substring(19);
            }
        }
        if (key.isEmpty()) {
            reset();
            return false;
        }
        out.writeBytes("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + subprotocolHeader + "Sec-WebSocket-Accept: " + accept(key) + "\r\n\r\n");
        out.flush();
        ClientLoop.daemon(this::readAll, "scripted-peer").start();
        return true;
    }

    private String headLine() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int b = in.read(); b >= 0 && b != '\n'; b = in.read()) {
            line.write(b);
        }
        return line.toString(StandardCharsets.ISO_8859_1).strip();
    }

    private static String accept(String key) {
        try {
            byte[] text = (key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").getBytes(StandardCharsets.US_ASCII);
            return Base64.getEncoder()
                    .encodeToString(MessageDigest.getInstance("SHA-1").digest(text));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private void readAll() {
        try {
            while (true) {
                int opcode = in.read() & 0x0f;
                byte[] payload = payload();
                switch (opcode) {
                    case 1 -> messages.add(new Message(new String(payload, StandardCharsets.UTF_8), null, 0));
                    case 2 -> messages.add(new Message(null, ByteBuffer.wrap(payload), 0));
                    case 8 -> {
                        messages.add(
                                new Message(null, null, ByteBuffer.wrap(payload).getShort() & 0xffff));
                        frame(8, true, payload);
                        socket.shutdownOutput();
                    }
                    case 10 -> pongs.incrementAndGet();
                    default -> {}
                }
            }
        } catch (IOException | RuntimeException e) {
            messages.add(new Message(null, null, 1006));
        }
    }

    private byte[] payload() throws IOException {
        int second = in.readUnsignedByte();
        int length = second & 0x7f;
        if (length == 126) {
            length = in.readUnsignedShort();
        } else if (length == 127) {
            length = (int) in.readLong();
        }
        byte[] mask = new byte[4];
        in.readFully(mask);
        byte[] payload = new byte[length];
        in.readFully(payload);
        for (int i = 0; i < length; i++) {
            payload[i] ^= mask[i & 3];
        }
        return payload;
    }

    Message next() throws InterruptedException {
        Message message = next(20_000);
        if (message == null) {
            throw new AssertionError("nothing came");
        }
        return message;
    }

    /** Null if nothing comes in that time. */
    @Nullable
    Message next(long millis) throws InterruptedException {
        return messages.poll(millis, TimeUnit.MILLISECONDS);
    }

    String line() throws InterruptedException {
        return next().text();
    }

    int closeCode() throws InterruptedException {
        Message message = next();
        if (message.line() != null || message.frame() != null) {
            throw new AssertionError("not the end but " + message);
        }
        return message.closeCode();
    }

    int pongs() {
        return pongs.get();
    }

    void send(String line) throws IOException {
        frame(1, true, line.getBytes(StandardCharsets.UTF_8));
    }

    void sendFrame(byte[] payload) throws IOException {
        frame(2, true, payload);
    }

    /** One message in frames of so many bytes, with a ping between each two. */
    void sendInParts(int opcode, byte[] payload, int partBytes) throws IOException {
        for (int at = 0; at < payload.length; at += partBytes) {
            byte[] part = java.util.Arrays.copyOfRange(payload, at, Math.min(payload.length, at + partBytes));
            frame(at == 0 ? opcode : 0, at + partBytes >= payload.length, part);
            ping();
        }
    }

    void ping() throws IOException {
        frame(9, true, new byte[] {1});
    }

    void close(int code, String reason) throws IOException {
        byte[] text = reason.getBytes(StandardCharsets.UTF_8);
        frame(
                8,
                true,
                ByteBuffer.allocate(2 + text.length)
                        .putShort((short) code)
                        .put(text)
                        .array());
    }

    private synchronized void frame(int opcode, boolean last, byte[] payload) throws IOException {
        out.write((last ? 0x80 : 0) | opcode);
        if (payload.length < 126) {
            out.write(payload.length);
        } else if (payload.length < 65_536) {
            out.write(126);
            out.writeShort(payload.length);
        } else {
            out.write(127);
            out.writeLong(payload.length);
        }
        out.write(payload);
        out.flush();
    }

    void reset() {
        try (Socket closing = socket) {
            closing.setSoLinger(true, 0);
        } catch (IOException e) {
            // gone
        }
    }
}
