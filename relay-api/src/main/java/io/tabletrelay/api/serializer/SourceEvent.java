package io.tabletrelay.api.serializer;

import io.tabletrelay.api.PipeName;
import java.nio.ByteBuffer;
import java.util.Map;

/**
 * What a source sent, to be serialized.
 *
 * <p>Threading: immutable, but for the position of the buffer, which is the reader's.
 *
 * @param pipe where the event goes
 * @param bytes read-only, big-endian, from its position to its limit
 * @param options what the source said beside the bytes, e.g. the query parameters of its HTTP request
 */
public record SourceEvent(PipeName pipe, ByteBuffer bytes, Map<String, String> options) {
    public SourceEvent {
        bytes = bytes.asReadOnlyBuffer();
        options = Map.copyOf(options);
    }

    /** Returns the option of that name, or the default. */
    public String option(String name, String defaultValue) {
        return options.getOrDefault(name, defaultValue);
    }
}
