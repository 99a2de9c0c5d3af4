package io.tabletrelay.api;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Publishes to pipes of a relay that runs in this process.
 *
 * <p>Threading: thread-safe. Results complete on the relay's own threads: do not block in what you chain to them.
 */
public interface Publisher {
    /** Publishes once, without protection against a repeat. */
    default CompletionStage<Appended> publish(PipeName pipe, String sourceType, ByteBuffer bytes) {
        return publish(pipe, sourceType, Map.of(), bytes, null);
    }

    /**
     * Publishes what a serializer makes of the bytes; all of its events are stored or none.
     *
     * @param sourceType names the serializer
     * @param options what the serializer is told about these bytes
     * @param bytes read from its position to its limit; must not be changed until the result is there
     * @param sequence makes the publish idempotent: a repeat is answered with what was stored then
     * @return completes once the events are durable at the pipe's level; fails with {@link RelayException}
     */
    CompletionStage<Appended> publish(
            PipeName pipe,
            String sourceType,
            Map<String, String> options,
            ByteBuffer bytes,
            @Nullable ProducerSequence sequence);
}
