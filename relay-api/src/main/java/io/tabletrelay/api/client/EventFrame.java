package io.tabletrelay.api.client;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The records of one data frame. */
final class EventFrame {
    private static final int HEADERS = 1;

    private EventFrame() {}

    /**
     * Reads all records; payloads are slices of the frame.
     *
     * @throws IllegalArgumentException if the frame does not end with a record's end
     */
    static List<RelayEvent> read(ByteBuffer frame, long epoch, RelayEvent.Answers answers) {
        List<RelayEvent> events = new ArrayList<>();
        try {
            while (frame.hasRemaining()) {
                events.add(event(frame, epoch, answers));
            }
        } catch (BufferUnderflowException e) {
            throw new IllegalArgumentException("a data frame ends inside a record: bytes=" + frame.capacity(), e);
        }
        return events;
    }

    private static RelayEvent event(ByteBuffer frame, long epoch, RelayEvent.Answers answers) {
        long id = frame.getLong();
        long appendedAtMillis = frame.getLong();
        int delivery = frame.getShort() & 0xffff;
        int flags = frame.getShort();
        int payloadBytes = frame.getInt();
        Map<String, String> headers = (flags & HEADERS) == 0
                ? Map.of()
                : Json.parse(StandardCharsets.UTF_8
                                .decode(take(frame, frame.getInt()))
                                .toString())
                        .strings();
        return new RelayEvent(epoch, id, appendedAtMillis, delivery, headers, take(frame, payloadBytes), answers);
    }

    private static ByteBuffer take(ByteBuffer frame, int bytes) {
        if (bytes < 0 || bytes > frame.remaining()) {
            throw new BufferUnderflowException();
        }
        ByteBuffer taken = frame.slice(frame.position(), bytes);
        frame.position(frame.position() + bytes);
        return taken;
    }
}
