package io.tabletrelay.core.server;

import io.tabletrelay.api.Durability;
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
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A pipe that only remembers what it is told; the test plays its transfer thread.
 *
 * <p>Threading: thread-safe.
 */
final class StubPipe implements Pipe {
    final List<Link> links = new CopyOnWriteArrayList<>();
    final AtomicInteger finishes = new AtomicInteger();
    volatile long lastSequence;
    volatile String state = "OPEN";
    private final PipeName name;
    private volatile Consumer<DeliverySink> onBind = sink -> sink.bound(null);

    StubPipe(PipeName name) {
        this.name = name;
    }

    /** What happens within bind; bound at once if nothing else is said. */
    void onBind(Consumer<DeliverySink> action) {
        onBind = action;
    }

    /** The one link there is. */
    Link link() {
        if (links.size() != 1) {
            throw new AssertionError("links: " + links.size());
        }
        return links.get(0);
    }

    @Override
    public PipeName name() {
        return name;
    }

    @Override
    public ConsumerLink bind(DeliverySink sink, BindOptions options) {
        Link link = new Link(sink, options);
        links.add(link);
        onBind.accept(sink);
        return link;
    }

    @Override
    public void append(
            List<Payload> payloads,
            @Nullable ProducerSequence sequence,
            PipeSettings madeFor,
            AppendListener listener) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<PipeStatus> status() {
        return CompletableFuture.completedStage(new PipeStatus(
                name.value(),
                77,
                state,
                state.equals("FAILED") ? "its disk is gone" : "",
                true,
                1,
                false,
                null,
                Durability.PROCESS,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                false,
                Map.of(),
                List.of()));
    }

    @Override
    public CompletionStage<Long> finish() {
        finishes.incrementAndGet();
        return CompletableFuture.completedStage(9L);
    }

    @Override
    public CompletionStage<PipeStatus> change(StateChange change, @Nullable Long ifVersion) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<PipeStatus> reopen() {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<EventState> stateOf(long id) {
        throw new UnsupportedOperationException();
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
        return CompletableFuture.completedStage(lastSequence);
    }

    @Override
    public CompletionStage<Optional<LetterContent>> deadLetter(long number) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<HandledCount> redrive(LetterSelection which) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<Explained> explain(long id, String subscription) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<HandledCount> purge(LetterSelection which) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<List<DeadLetter>> deadLetters(long after, int limit) {
        throw new UnsupportedOperationException();
    }

    /** One connection's line, as it was used. */
    static final class Link implements ConsumerLink {
        final DeliverySink sink;
        final List<Long> acks = new CopyOnWriteArrayList<>();
        final List<Long> nacks = new CopyOnWriteArrayList<>();
        final AtomicInteger signs = new AtomicInteger();
        final AtomicInteger probePongs = new AtomicInteger();
        final AtomicInteger writables = new AtomicInteger();
        final AtomicInteger gone = new AtomicInteger();
        volatile boolean keepsAcks = true;
        volatile Consumer<Long> onAck = id -> {};

        final BindOptions options;
        /** All that was said but acks of single ids. */
        final List<String> said = new CopyOnWriteArrayList<>();

        Link(DeliverySink sink, BindOptions options) {
            this.sink = sink;
            this.options = options;
        }

        @Override
        public void ack(long firstId, long lastId) {
            if (lastId != firstId) {
                said.add("ack " + firstId + "-" + lastId);
            } else if (keepsAcks) {
                acks.add(firstId);
            }
            onAck.accept(firstId);
        }

        @Override
        public void ackUpTo(long id) {
            said.add("ackUpTo " + id);
        }

        @Override
        public void nack(long id, long delayMillis, String reason) {
            nacks.add(id);
            said.add("nack " + id + " " + delayMillis + " " + reason);
        }

        @Override
        public void term(long id, String reason) {
            said.add("term " + id + " " + reason);
        }

        @Override
        public void hold(long id) {
            said.add("hold " + id);
        }

        @Override
        public void window(int events) {
            said.add("window " + events);
        }

        @Override
        public void unbind() {
            said.add("unbind");
            sink.unbound();
        }

        @Override
        public void life(boolean probePong) {
            (probePong ? probePongs : signs).incrementAndGet();
        }

        @Override
        public void written(long bytesSoFar) {}

        @Override
        public void writable() {
            writables.incrementAndGet();
        }

        @Override
        public void gone() {
            gone.incrementAndGet();
        }
    }
}
