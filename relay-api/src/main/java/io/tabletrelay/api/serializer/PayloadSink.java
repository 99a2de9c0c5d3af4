package io.tabletrelay.api.serializer;

import java.nio.ByteBuffer;
import java.util.Map;

/**
 * Takes the payloads of one source event, in the order in which they shall be delivered.
 *
 * <p>Threading: used by the thread that serializes, until {@code serialize} returns.
 */
public interface PayloadSink {
    /** Adds a payload without headers. */
    default void add(String contentType, ByteBuffer payload) {
        add(contentType, Map.of(), payload);
    }

    /**
     * Adds a payload, which belongs to the relay from now on.
     *
     * @param contentType what consumers are told the payload is, e.g. {@code application/json}
     * @param payload from its position to its limit
     */
    void add(String contentType, Map<String, String> headers, ByteBuffer payload);
}
