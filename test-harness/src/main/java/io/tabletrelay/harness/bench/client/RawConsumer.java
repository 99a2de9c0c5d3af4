package io.tabletrelay.harness.bench.client;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * A consumer that is not itself the ceiling: of dialect 1, with an ack for each event, or of dialect 2, with one for all that
 * a read brought.
 *
 * <p>Threading: confined to one thread.
 */
public final class RawConsumer implements AutoCloseable {
    private static final int LONGEST_ACK_BYTES = 40;
    private static final byte[] ACK = "ACK:".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] ACK_TO = "ACKTO:".getBytes(StandardCharsets.US_ASCII);
    private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(30);
    private static final int DELIVERY_OFFSET = 2 * Long.BYTES;
    private static final int LENGTH_OFFSET = DELIVERY_OFFSET + 2 * Short.BYTES;
    private static final int RECORD_PREFIX_BYTES = LENGTH_OFFSET + Integer.BYTES;

    private final boolean batched;
    private final @Nullable Histogram latencies;
    /** This event alone is never acked. */
    private final long keptId;

    private final RawSocket socket;
    private boolean bound;
    private long received;
    private long lastId;
    private long ackedTo;
    /** Events without the id that follows the one before: 0 while nothing is lost, repeated or reordered. */
    private long idsNotInRow;

    private RawConsumer(int port, boolean batched, @Nullable Histogram latencies, long keptId) throws IOException {
        this.batched = batched;
        this.latencies = latencies;
        this.keptId = keptId;
        this.socket =
                RawSocket.connect(port, batched ? "Sec-WebSocket-Protocol: tablet-relay.v2\r\n" : "", this::frame);
    }

    /**
     * Connects and binds the pipe; returns when it is bound.
     *
     * @param latencies gets for each event the nanoseconds from the time at the beginning of its payload to its arrival
     */
    public static RawConsumer bind(int port, String pipe, @Nullable Histogram latencies) throws IOException {
        return new RawConsumer(port, false, latencies, 0).bound(pipe);
    }

    /** The same, but that it acks all events but one. */
    public static RawConsumer bindKeeping(int port, String pipe, long keptId) throws IOException {
        return new RawConsumer(port, false, null, keptId).bound(pipe);
    }

    /** In dialect 2, with the largest window and as many events in a frame as fit. */
    public static RawConsumer bindBatched(int port, String pipe) throws IOException {
        return new RawConsumer(port, true, null, 0)
                .bound(pipe + "?window=65536&batch=65536&window-bytes=" + (256 << 20));
    }

    private RawConsumer bound(String argument) throws IOException {
        long endNanos = System.nanoTime() + ANSWER_TIMEOUT.toNanos();
        socket.put(RawSocket.TEXT, ("BIND:" + argument).getBytes(StandardCharsets.UTF_8));
        socket.takeFrames();
        while (!bound) {
            socket.readMore(endNanos);
        }
        return this;
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
        try {
            while (received < events) {
                socket.readMore(endNanos);
                ackBatch();
            }
        } catch (IOException e) {
            throw new IOException(e.getMessage() + ": received=" + received + ", last=" + lastId, e);
        }
        return socket.readNanos();
    }

    /** Reads and answers what is there, without waiting. */
    public void poll() throws IOException {
        socket.poll();
        ackBatch();
    }

    private void frame(int opcode, ByteBuffer in, int length) throws IOException {
        if (opcode == RawSocket.TEXT) {
            text(new String(RawSocket.bytes(in, length), StandardCharsets.UTF_8));
        } else if (batched) {
            records(in, length);
        } else {
            long id = in.getLong(in.position());
            event(id, in, in.position() + Long.BYTES);
            if (id != keptId) {
                putAck(ACK, id);
            }
        }
    }

    private void records(ByteBuffer in, int length) {
        int end = in.position() + length;
        for (int start = in.position(); start < end; ) {
            event(in.getLong(start), in, start + RECORD_PREFIX_BYTES);
            start += RECORD_PREFIX_BYTES + in.getInt(start + LENGTH_OFFSET);
        }
    }

    private void text(String line) throws IOException {
        if (!line.startsWith("READY")) {
            throw new IOException("pipe could not be bound: answer=" + line);
        }
        bound = true;
    }

    private void event(long id, ByteBuffer in, int payload) {
        received++;
        idsNotInRow += id == lastId + 1 ? 0 : 1;
        lastId = id;
        if (latencies != null) {
            latencies.recordValue(Math.max(0, socket.readNanos() - in.getLong(payload)));
        }
    }

    private void ackBatch() throws IOException {
        if (batched && ackedTo < lastId) {
            ackedTo = lastId;
            putAck(ACK_TO, lastId);
            socket.flush();
        }
    }

    /** Digit by digit: nothing is allocated for an event. */
    private void putAck(byte[] verb, long id) throws IOException {
        ByteBuffer out = socket.room(LONGEST_ACK_BYTES);
        int digits = 1;
        for (long rest = id / 10; rest > 0; rest /= 10) {
            digits++;
        }
        out.put((byte) (0x80 | RawSocket.TEXT))
                .put((byte) (0x80 | (verb.length + digits)))
                .putInt(RawSocket.MASK);
        for (int i = 0; i < verb.length; i++) {
            out.put(RawSocket.masked(verb[i], i));
        }
        int start = out.position();
        long rest = id;
        for (int i = digits - 1; i >= 0; i--) {
            out.put(start + i, RawSocket.masked('0' + (int) (rest % 10), verb.length + i));
            rest /= 10;
        }
        out.position(start + digits);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
