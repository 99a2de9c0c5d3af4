package io.tabletrelay.api;

import java.nio.ByteBuffer;
import java.util.Map;

/**
 * What consumers get for one event, and what is stored of it.
 *
 * <p>Threading: immutable, provided nobody writes to the buffer's bytes; use {@link #bytes()} without moving its position
 * (duplicate it).
 *
 * @param contentType e.g. {@code application/json}
 * @param bytes from its position to its limit
 */
public record Payload(String contentType, Map<String, String> headers, ByteBuffer bytes) {
    public Payload {
        headers = Map.copyOf(headers);
    }

    public int size() {
        return bytes.remaining();
    }
}
