package io.tabletrelay.core.server;

import io.tabletrelay.api.Appended;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.api.RelayException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Takes the events of producers' connections.
 *
 * <p>Threading: called by any thread; must not wait.
 */
public interface EventIntake {
    /** Takes nothing. */
    EventIntake NONE = new EventIntake() {
        @Override
        public int maxEventBytes() {
            return 0;
        }

        @Override
        public List<String> sourceTypes() {
            return List.of();
        }

        @Override
        public CompletionStage<Appended> take(
                PipeName pipe, String sourceType, Map<String, String> headers, ByteBuffer bytes, Order order) {
            return CompletableFuture.failedStage(
                    new RelayException(ErrorCode.NO_SERIALIZER, "event not taken: sourceType=" + sourceType));
        }
    };

    /** Largest event, in bytes. */
    int maxEventBytes();

    /** What events can be. */
    List<String> sourceTypes();

    /**
     * Stores what the serializer makes of the bytes, with these headers too, after what came before it in the same order.
     * What is refused for good uses up its sequence.
     *
     * @param bytes are not changed any more
     * @return completes once the events are durable at the pipe's level; fails with RelayException. Called on the thread that
     *     stores, before it looks at the next event: what is chained to it must not block
     */
    CompletionStage<Appended> take(
            PipeName pipe, String sourceType, Map<String, String> headers, ByteBuffer bytes, Order order);

    /** What keeps the events of one producer in order. */
    sealed interface Order {
        /** The pipe remembers how far this producer is. */
        record Named(ProducerSequence sequence) implements Order {}

        /**
         * The events of a connection up to the first that is refused for now: none behind it is stored.
         *
         * <p>Threading: thread-safe by a volatile field.
         */
        final class Unnamed implements Order {
            private final Object connection;
            private volatile boolean broken;

            Unnamed(Object connection) {
                this.connection = connection;
            }

            /** Those of one connection go one after another, whatever was refused between them. */
            public Object connection() {
                return connection;
            }

            void breakOff() {
                broken = true;
            }

            boolean isBroken() {
                return broken;
            }

            /** Why the next event must not be stored; null if it may. */
            public @Nullable RelayException objection() {
                return broken ? outOfSequence("one before it was refused and must come again") : null;
            }
        }
    }

    /** An event is refused because of where it stands. */
    static RelayException outOfSequence(String why) {
        return new RelayException(ErrorCode.OUT_OF_SEQUENCE, "event out of sequence: " + why);
    }
}
