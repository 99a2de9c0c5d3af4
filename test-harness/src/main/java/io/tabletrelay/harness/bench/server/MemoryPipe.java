package io.tabletrelay.harness.bench.server;

import io.tabletrelay.api.Payload;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.core.config.PipeSettings;
import io.tabletrelay.core.delivery.BindOptions;
import io.tabletrelay.core.delivery.DeadLetter;
import io.tabletrelay.core.delivery.DeliverySink;
import io.tabletrelay.core.delivery.EventState;
import io.tabletrelay.core.delivery.Explained;
import io.tabletrelay.core.delivery.HandledCount;
import io.tabletrelay.core.delivery.LetterContent;
import io.tabletrelay.core.delivery.LetterSelection;
import io.tabletrelay.core.pipe.AppendListener;
import io.tabletrelay.core.pipe.ConsumerLink;
import io.tabletrelay.core.pipe.Pipe;
import io.tabletrelay.core.pipe.PipeStatus;
import io.tabletrelay.core.pipe.StateChange;
import io.tabletrelay.core.pipe.SubscriptionStatus;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The pipe that the edge sees when nothing is stored: binds whoever asks and counts acks.
 *
 * <p>Threading: thread-safe by its pusher.
 */
final class MemoryPipe implements Pipe {
    private final PipeName name;
    private final Pusher pusher;

    MemoryPipe(PipeName name, Pusher pusher) {
        this.name = name;
        this.pusher = pusher;
    }

    @Override
    public PipeName name() {
        return name;
    }

    @Override
    public ConsumerLink bind(DeliverySink sink, BindOptions options) {
        pusher.attach(new SinkOutlet(sink));
        return new Link();
    }

    @Override
    public void append(
            List<Payload> payloads,
            @Nullable ProducerSequence sequence,
            PipeSettings madeFor,
            AppendListener listener) {
        throw new UnsupportedOperationException("nothing is stored here");
    }

    @Override
    public CompletionStage<PipeStatus> status() {
        throw new UnsupportedOperationException("nothing is stored here");
    }

    @Override
    public CompletionStage<Long> finish() {
        throw new UnsupportedOperationException("nothing is stored here");
    }

    @Override
    public CompletionStage<PipeStatus> change(StateChange change, @Nullable Long ifVersion) {
        throw new UnsupportedOperationException("nothing is stored here");
    }

    @Override
    public CompletionStage<PipeStatus> reopen() {
        throw new UnsupportedOperationException("nothing is stored here");
    }

    @Override
    public CompletionStage<EventState> stateOf(long id) {
        throw new UnsupportedOperationException("nothing is stored here");
    }

    @Override
    public CompletionStage<List<SubscriptionStatus>> subscriptions() {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<Created> createSubscription(String subscription, BindOptions.Start start) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<SubscriptionStatus> resetSubscription(String subscription, BindOptions.Start start) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<Void> deleteSubscription(String subscription) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<Long> lastSequence(String producer) {
        throw new UnsupportedOperationException("nothing is stored here");
    }

    @Override
    public CompletionStage<Optional<LetterContent>> deadLetter(long number) {
        throw new UnsupportedOperationException("nothing is stored here");
    }

    @Override
    public CompletionStage<HandledCount> redrive(LetterSelection which) {
        throw new UnsupportedOperationException("nothing is stored here");
    }

    @Override
    public CompletionStage<Explained> explain(long id, String subscription) {
        throw new UnsupportedOperationException("nothing is stored here");
    }

    @Override
    public CompletionStage<HandledCount> purge(LetterSelection which) {
        throw new UnsupportedOperationException("nothing is stored here");
    }

    @Override
    public CompletionStage<List<DeadLetter>> deadLetters(long after, int limit) {
        throw new UnsupportedOperationException("nothing is stored here");
    }

    private record SinkOutlet(DeliverySink sink) implements Pusher.Outlet {
        @Override
        public void bound() {
            sink.bound(null);
        }

        @Override
        public boolean writable() {
            return sink.writable();
        }

        @Override
        public void send(long id, ByteBuffer payload) {
            sink.deliver(id, 0, 1, payload, Map.of());
        }

        @Override
        public void flush() {
            sink.flush();
        }
    }

    /** What comes from the consumer. Nothing is sent again here, so only acks mean something. */
    private final class Link implements ConsumerLink {
        @Override
        public void ack(long firstId, long lastId) {
            pusher.acked();
        }

        @Override
        public void ackUpTo(long id) {}

        @Override
        public void nack(long id, long delayMillis, String reason) {}

        @Override
        public void term(long id, String reason) {}

        @Override
        public void hold(long id) {}

        @Override
        public void window(int events) {}

        @Override
        public void unbind() {}

        @Override
        public void life(boolean probePong) {}

        @Override
        public void written(long bytesSoFar) {}

        @Override
        public void writable() {
            pusher.wake();
        }

        @Override
        public void gone() {}
    }
}
