package io.tabletrelay.core.server;

import io.tabletrelay.api.Appended;
import io.tabletrelay.api.Durability;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Takes events and remembers them; the test says what becomes of each, or they are stored at once.
 *
 * <p>Threading: thread-safe.
 */
final class StubIntake implements EventIntake {
    static final int MAX_EVENT_BYTES = 200_000;

    final List<Taken> taken = new CopyOnWriteArrayList<>();
    volatile boolean storesAtOnce = true;

    /** One event, and what became of it. */
    static final class Taken {
        final PipeName pipe;
        final String text;
        final Map<String, String> headers;
        final EventIntake.Order order;
        final CompletableFuture<Appended> result = new CompletableFuture<>();

        Taken(PipeName pipe, String text, Map<String, String> headers, EventIntake.Order order) {
            this.pipe = pipe;
            this.text = text;
            this.headers = headers;
            this.order = order;
        }

        void store() {
            result.complete(new Appended(1, 1, false, Durability.PROCESS));
        }

        void refuse(ErrorCode code) {
            result.completeExceptionally(new RelayException(code, "refused for the test"));
        }
    }

    @Override
    public int maxEventBytes() {
        return MAX_EVENT_BYTES;
    }

    @Override
    public List<String> sourceTypes() {
        return List.of("bytes");
    }

    @Override
    public CompletionStage<Appended> take(
            PipeName pipe, String sourceType, Map<String, String> headers, ByteBuffer bytes, Order order) {
        String text = StandardCharsets.UTF_8.decode(bytes.duplicate()).toString();
        Taken event = new Taken(pipe, text, headers, order);
        taken.add(event);
        if (storesAtOnce) {
            event.store();
        }
        return event.result;
    }
}
