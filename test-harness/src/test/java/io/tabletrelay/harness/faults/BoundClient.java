package io.tabletrelay.harness.faults;

import io.tabletrelay.harness.RawClient;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * A connection that has a pipe, and does what the test tells it.
 *
 * <p>Threading: read by one thread; the rest is thread-safe.
 */
final class BoundClient implements AutoCloseable {
    private final RawClient raw;

    private BoundClient(RawClient raw) {
        this.raw = raw;
    }

    /** Connects, acks these events ahead of the BIND, binds, and waits for READY. */
    static BoundClient bind(int port, String pipe, long... earlyAcks) throws IOException {
        BoundClient client = new BoundClient(RawClient.connect(port));
        for (long id : earlyAcks) {
            client.ack(id);
        }
        client.raw.sendText("BIND:" + pipe);
        String answer = client.raw.next(TestRelay.PATIENCE).text();
        if (!answer.equals("READY")) {
            client.raw.reset();
            throw new IOException("not bound: pipe=" + pipe + ", answer=" + answer);
        }
        return client;
    }

    /** Ids from the first to the last. */
    static List<Long> ids(long first, long last) {
        return LongStream.rangeClosed(first, last).boxed().toList();
    }

    RawClient raw() {
        return raw;
    }

    /** The next event. */
    RawClient.Frame event() throws IOException {
        RawClient.Frame frame = raw.next(TestRelay.PATIENCE);
        if (frame.opcode() != RawClient.BINARY) {
            throw new IOException("not an event: opcode=" + frame.opcode());
        }
        return frame;
    }

    /** The ids of the next events. */
    List<Long> take(int count) throws IOException {
        List<Long> ids = new ArrayList<>();
        while (ids.size() < count) {
            ids.add(event().eventId());
        }
        return ids;
    }

    /** The ids of the next events, each acked as soon as it was read. */
    List<Long> takeAndAck(int count) throws IOException {
        List<Long> ids = new ArrayList<>();
        while (ids.size() < count) {
            long id = event().eventId();
            ack(id);
            ids.add(id);
        }
        return ids;
    }

    void ack(long id) throws IOException {
        raw.sendText("ACK:" + id);
    }

    void ack(List<Long> ids) throws IOException {
        for (long id : ids) {
            ack(id);
        }
    }

    void refuse(long id) throws IOException {
        raw.sendText("ERROR:" + id);
    }

    /** What comes within this time; null if nothing does. */
    RawClient.@Nullable Frame within(Duration time) throws IOException {
        return raw.read(time);
    }

    /** Ends the connection as a crash would, with what was not read lost. */
    void reset() {
        raw.reset();
    }

    @Override
    public void close() throws IOException {
        raw.close();
    }
}
