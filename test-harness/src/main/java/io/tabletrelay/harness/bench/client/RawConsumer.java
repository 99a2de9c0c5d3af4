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
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * A dialect-1 consumer that costs as little as one can: large reads, payloads never copied, and all acks of a read in
 * one write, each a masked text frame of its own.
 *
 * <p>Threading: confined to one thread.
 */
public final class RawConsumer implements AutoCloseable {
    private static final int READ_BYTES = 1 << 20;
    private static final int ACK_BYTES = 64 << 10;
    private static final int LONGEST_ACK_BYTES = 32;
    private static final int MASK = 0x1a2b3c4d;
    private static final int[] MASK_BYTES = {MASK >>> 24, MASK >>> 16 & 0xff, MASK >>> 8 & 0xff, MASK & 0xff};
    private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(30);

    private static final int TEXT = 0x1;
    private static final int BINARY = 0x2;
    private static final int CLOSE = 0x8;
    private static final int PING = 0x9;
    private static final int PONG = 0xA;

    private final SocketChannel socket;
    private final Selector selector;
    private final ByteBuffer in = ByteBuffer.allocateDirect(READ_BYTES);
    private final ByteBuffer out = ByteBuffer.allocateDirect(ACK_BYTES);
    private final @Nullable Histogram latencies;
    /** This event alone is never acked. */
    private final long keptId;

    private boolean handshaken;
    private boolean bound;
    private long received;
    private long lastId;
    /** Events without the id that follows the one before: 0 while nothing is lost, repeated or reordered. */
    private long idsNotInRow;

    private long readNanos;

    private RawConsumer(SocketChannel socket, Selector selector, @Nullable Histogram latencies, long keptId) {
        this.keptId = keptId;
        this.socket = socket;
        this.selector = selector;
        this.latencies = latencies;
    }

    /**
     * Connects and binds the pipe; returns when it is bound.
     *
     * @param latencies gets for each event the nanoseconds from the time at the beginning of its payload to its arrival
     */
    public static RawConsumer bind(int port, String pipe, @Nullable Histogram latencies) throws IOException {
        return bind(port, pipe, latencies, 0);
    }

    /** The same, but that it acks all events but one. */
    public static RawConsumer bindKeeping(int port, String pipe, long keptId) throws IOException {
        return bind(port, pipe, null, keptId);
    }

    private static RawConsumer bind(int port, String pipe, @Nullable Histogram latencies, long keptId)
            throws IOException {
        SocketChannel socket = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
        socket.configureBlocking(false);
        Selector selector = Selector.open();
        socket.register(selector, SelectionKey.OP_READ);
        RawConsumer consumer = new RawConsumer(socket, selector, latencies, keptId);
        consumer.out.put(("GET / HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\nUpgrade: websocket\r\n"
                        + "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
                .getBytes(StandardCharsets.US_ASCII));
        consumer.write();
        long endNanos = System.nanoTime() + ANSWER_TIMEOUT.toNanos();
        consumer.readUntilHandshaken(endNanos);
        consumer.put(TEXT, ("BIND:" + pipe).getBytes(StandardCharsets.UTF_8));
        consumer.write();
        consumer.parse();
        while (!consumer.bound) {
            consumer.readMore(endNanos);
        }
        return consumer;
    }

    /**
     * Reads and acks until that many events have come since the bind; returns when the last of them did. Throws unless
     * they came once and in order: a figure of anything else means nothing.
     */
    public long receive(long events, Duration patience) throws IOException {
        long lastNanos = receiveAny(events, patience);
        if (received != events || idsNotInRow > 0) {
            throw new IOException("events did not come once and in order: events=" + events + ", received=" + received
                    + ", idsNotInRow=" + idsNotInRow);
        }
        return lastNanos;
    }

    /** The same, whatever ids they have. */
    public long receiveAny(long events, Duration patience) throws IOException {
        long endNanos = System.nanoTime() + patience.toNanos();
        while (received < events) {
            readMore(endNanos);
        }
        return readNanos;
    }

    /** Reads and answers what is there, without waiting. */
    public void poll() throws IOException {
        if (read() > 0) {
            parse();
        }
    }

    private void readUntilHandshaken(long endNanos) throws IOException {
        while (!handshaken) {
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
                handshaken = true;
            }
        }
    }

    private void readMore(long endNanos) throws IOException {
        if (read() == 0) {
            await(endNanos);
        } else {
            parse();
        }
    }

    private int read() throws IOException {
        int n = socket.read(in);
        if (n < 0) {
            throw new EOFException("connection ended by the server: received=" + received);
        }
        readNanos = System.nanoTime();
        return n;
    }

    private void await(long endNanos) throws IOException {
        long leftMillis = (endNanos - System.nanoTime()) / 1_000_000;
        if (leftMillis <= 0) {
            throw new IOException("event did not come in time: received=" + received + ", last=" + lastId);
        }
        selector.select(leftMillis);
        selector.selectedKeys().clear();
    }

    /** Takes all whole frames that were read, and writes what they are answered with. */
    private void parse() throws IOException {
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
        write();
    }

    private void take(int opcode, int length) throws IOException {
        int start = in.position();
        switch (opcode) {
            case BINARY -> event(in.getLong(start), start + Long.BYTES);
            case TEXT -> text(new String(bytes(length), StandardCharsets.UTF_8));
            case PING -> put(PONG, bytes(length));
            case CLOSE -> throw new EOFException("connection closed by the server: received=" + received);
            default -> throw new IOException("not a server's frame: opcode=" + opcode);
        }
    }

    private byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        in.get(bytes);
        return bytes;
    }

    private void text(String line) throws IOException {
        if (!line.equals("READY")) {
            throw new IOException("pipe could not be bound: answer=" + line);
        }
        bound = true;
    }

    private void event(long id, int payload) throws IOException {
        received++;
        idsNotInRow += id == lastId + 1 ? 0 : 1;
        lastId = id;
        if (latencies != null) {
            latencies.recordValue(Math.max(0, readNanos - in.getLong(payload)));
        }
        if (id != keptId) {
            putAck(id);
        }
    }

    /** {@code ACK:<id>}, digit by digit: nothing is allocated for an event. */
    private void putAck(long id) throws IOException {
        makeRoom(LONGEST_ACK_BYTES);
        int digits = 1;
        for (long rest = id / 10; rest > 0; rest /= 10) {
            digits++;
        }
        int length = 4 + digits;
        out.put((byte) (0x80 | TEXT)).put((byte) (0x80 | length)).putInt(MASK);
        out.put((byte) ('A' ^ MASK_BYTES[0])).put((byte) ('C' ^ MASK_BYTES[1]));
        out.put((byte) ('K' ^ MASK_BYTES[2])).put((byte) (':' ^ MASK_BYTES[3]));
        int start = out.position();
        long rest = id;
        for (int i = digits - 1; i >= 0; i--) {
            out.put(start + i, (byte) (('0' + (int) (rest % 10)) ^ MASK_BYTES[i & 3]));
            rest /= 10;
        }
        out.position(start + digits);
    }

    private void put(int opcode, byte[] payload) throws IOException {
        makeRoom(6 + payload.length);
        out.put((byte) (0x80 | opcode)).put((byte) (0x80 | payload.length)).putInt(MASK);
        for (int i = 0; i < payload.length; i++) {
            out.put((byte) (payload[i] ^ MASK_BYTES[i & 3]));
        }
    }

    private void makeRoom(int bytes) throws IOException {
        if (out.remaining() < bytes) {
            write();
        }
    }

    private void write() throws IOException {
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
