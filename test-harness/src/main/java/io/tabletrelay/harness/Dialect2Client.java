package io.tabletrelay.harness;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * A connection that speaks dialect 2: sends what it is told, and keeps the lines and the records that come apart, each in
 * their order.
 *
 * <p>Threading: read by one thread; sending and closing are thread-safe.
 */
public final class Dialect2Client implements AutoCloseable {
    /** How long an answer that must come may take. */
    public static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final ObjectMapper JSON = new ObjectMapper();

    private final RawClient raw;
    private final Queue<Line> lines = new ArrayDeque<>();
    private final Queue<List<Received>> batches = new ArrayDeque<>();
    private final Queue<Received> rest = new ArrayDeque<>();
    private int closeCode;
    private long recordsReceived;
    private long recordsReturned;

    private Dialect2Client(RawClient raw) {
        this.raw = raw;
    }

    /** Connects, and offers dialect 2 only. */
    public static Dialect2Client connect(int port) throws IOException {
        RawClient raw = RawClient.tcp(port);
        try {
            String head = raw.handshake("Sec-WebSocket-Protocol: tablet-relay.v2\r\n");
            if (!head.startsWith("HTTP/1.1 101 ") || !head.contains("tablet-relay.v2")) {
                throw new IOException(
                        "no dialect 2: answer=" + head.lines().findFirst().orElse(""));
            }
        } catch (IOException e) {
            raw.reset();
            throw e;
        }
        return new Dialect2Client(raw);
    }

    /** Connects and binds; the argument is what stands behind {@code BIND:}. */
    public static Dialect2Client bound(int port, String argument) throws IOException {
        return ready(port, "BIND:" + argument);
    }

    /** Connects and begins to publish; the argument is what stands behind {@code PUBLISH:}. */
    public static Dialect2Client publishing(int port, String argument) throws IOException {
        return ready(port, "PUBLISH:" + argument);
    }

    private static Dialect2Client ready(int port, String line) throws IOException {
        Dialect2Client client = connect(port);
        try {
            client.ask(line);
        } catch (IOException e) {
            client.reset();
            throw e;
        }
        return client;
    }

    public RawClient raw() {
        return raw;
    }

    /** Sends a line. */
    public void line(String line) throws IOException {
        raw.sendText(line);
    }

    /** Sends a BIND or PUBLISH and returns what READY says. */
    public JsonNode ask(String line) throws IOException {
        line(line);
        String answer = nextLine();
        if (!answer.startsWith("READY:")) {
            throw new IOException("not ready: line=" + line + ", answer=" + answer);
        }
        return JSON.readTree(answer.substring("READY:".length()));
    }

    /** Publishes one event. */
    public void publish(long sequence, byte[] source) throws IOException {
        raw.sendFrame(RawClient.BINARY, true, true, frame(sequence, source));
    }

    /** What a frame with this event holds. */
    public static byte[] frame(long sequence, byte[] source) {
        return ByteBuffer.allocate(Long.BYTES + source.length)
                .putLong(sequence)
                .put(source)
                .array();
    }

    /** The next line, which must come. */
    public String nextLine() throws IOException {
        while (lines.isEmpty()) {
            mustReceive();
        }
        return lines.remove().text();
    }

    /** The next record, which must come. */
    public Received next() throws IOException {
        while (rest.isEmpty()) {
            while (batches.isEmpty()) {
                mustReceive();
            }
            rest.addAll(batches.remove());
        }
        recordsReturned++;
        return rest.remove();
    }

    /** The records of the next frame, which must come. */
    public List<Received> nextBatch() throws IOException {
        while (batches.isEmpty()) {
            mustReceive();
        }
        recordsReturned += batches.element().size();
        return batches.remove();
    }

    /** The ids of the next records. */
    public List<Long> take(int count) throws IOException {
        List<Long> ids = new ArrayList<>();
        while (ids.size() < count) {
            ids.add(next().id());
        }
        return ids;
    }

    /** What was received and not asked for, or comes within this time; null if there is neither. */
    public @Nullable Received within(Duration time) throws IOException {
        long endNanos = System.nanoTime() + time.toNanos();
        while (rest.isEmpty() && batches.isEmpty()) {
            if (!receive(Duration.ofNanos(Math.max(0, endNanos - System.nanoTime())))) {
                return null;
            }
        }
        return next();
    }

    /** The next line if one was received or comes within this time. */
    public @Nullable String lineWithin(Duration time) throws IOException {
        long endNanos = System.nanoTime() + time.toNanos();
        while (lines.isEmpty()) {
            if (!receive(Duration.ofNanos(Math.max(0, endNanos - System.nanoTime())))) {
                return null;
            }
        }
        return lines.remove().text();
    }

    /** The next line that had come before the record that was returned last; null if there is none. */
    public @Nullable String lineBeforeLastRecord() {
        Line first = lines.peek();
        return first == null || first.recordsBefore() >= recordsReturned
                ? null
                : lines.remove().text();
    }

    /** Reads until the relay closes, and returns the code. */
    public int nextCloseCode() throws IOException {
        while (closeCode == 0) {
            mustReceive();
        }
        return closeCode;
    }

    private void mustReceive() throws IOException {
        if (closeCode != 0) {
            throw new IOException("closed by the relay: code=" + closeCode + ", lines=" + lines);
        }
        if (!receive(PATIENCE)) {
            throw new SocketTimeoutException("nothing came: lines=" + lines + ", waited=" + PATIENCE);
        }
    }

    /** Returns false if nothing came in time. */
    private boolean receive(Duration time) throws IOException {
        RawClient.Frame frame = raw.read(time);
        if (frame == null) {
            return false;
        }
        switch (frame.opcode()) {
            case RawClient.TEXT -> lines.add(new Line(frame.text(), recordsReceived));
            case RawClient.BINARY -> {
                List<Received> batch = decode(frame.payload());
                recordsReceived += batch.size();
                batches.add(batch);
            }
            case RawClient.CLOSE -> closeCode = frame.closeCode();
            default -> throw new IOException("not expected: opcode=" + frame.opcode());
        }
        return true;
    }

    /** The records of a frame; throws where one is cut off. */
    static List<Received> decode(ByteBuffer frame) {
        List<Received> records = new ArrayList<>();
        while (frame.hasRemaining()) {
            long id = frame.getLong();
            long appendedAtMillis = frame.getLong();
            int delivery = frame.getShort() & 0xffff;
            int flags = frame.getShort() & 0xffff;
            int length = frame.getInt();
            String headers = (flags & 1) == 0
                    ? ""
                    : StandardCharsets.UTF_8.decode(cut(frame, frame.getInt())).toString();
            records.add(new Received(id, appendedAtMillis, delivery, flags, headers, cut(frame, length)));
        }
        return records;
    }

    private static ByteBuffer cut(ByteBuffer from, int length) {
        ByteBuffer part = from.slice(from.position(), length);
        from.position(from.position() + length);
        return part;
    }

    /** Ends the connection with a TCP reset. */
    public void reset() {
        raw.reset();
    }

    @Override
    public void close() throws IOException {
        raw.close();
    }

    private record Line(String text, long recordsBefore) {}

    /**
     * One record as it came.
     *
     * @param headers a JSON object, empty where the record has none
     */
    public record Received(
            long id, long appendedAtMillis, int delivery, int flags, String headers, ByteBuffer payload) {
        /** The payload as text. */
        public String text() {
            return StandardCharsets.UTF_8.decode(payload.duplicate()).toString();
        }
    }
}
