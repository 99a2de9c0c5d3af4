package io.tabletrelay.api.client;

import io.tabletrelay.api.PipeName;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Consumes a pipe: hands events to a handler, answers them, and stays connected.
 *
 * <pre>{@code
 * try (RelayConsumer consumer = RelayConsumer.builder(URI.create("ws://localhost:7070"), new PipeName("orders"))
 *         .onEvent(event -> store(event.id(), event.bytes()))
 *         .start()) {
 *     consumer.completion().join();
 * }
 * }</pre>
 *
 * <p>An event may come more than once: after a lost connection, a timeout, a crash. Epoch and id name it.
 *
 * <p>Threading: thread-safe. The handler is called on the given executor, or on threads of the consumer's own.
 */
public final class RelayConsumer implements AutoCloseable {
    private final ConsumerSide side;

    private RelayConsumer(ConsumerSide side) {
        this.side = side;
    }

    /**
     * Begins the description of a consumer.
     *
     * @param address of the relay's WebSocket port
     */
    public static Builder builder(URI address, PipeName pipe) {
        return new Builder(address, pipe);
    }

    /** Completes when the subscription is bound for the first time. */
    public CompletableFuture<Void> ready() {
        return side.ready();
    }

    /**
     * Completes when the consumer was closed, or the pipe's producer has finished it and every event is settled; fails with
     * {@link RelayClosedException} if the relay ended it for good.
     */
    public CompletableFuture<Void> completion() {
        return side.completion();
    }

    /** As {@link #close}, without waiting. */
    public CompletableFuture<Void> stop() {
        return side.stop();
    }

    /**
     * Takes no more events, waits until those in the handler's hands are answered, but not longer than the close timeout, sends
     * the answers and ends the connection. From inside the handler it does not wait.
     */
    @Override
    public void close() {
        CompletableFuture<Void> stopped = side.stop();
        if (side.mustNotWait()) {
            return;
        }
        try {
            stopped.join();
        } catch (CompletionException e) {
            // it ended before: completion() says why
        }
    }

    /**
     * What a consumer is to be.
     *
     * <p>Threading: confined to its caller.
     */
    public static final class Builder {
        private static final int DEFAULT_WINDOW_EVENTS = 1_024;

        private final URI address;
        private final PipeName pipe;
        private final Map<String, String> bind = new LinkedHashMap<>();
        private int windowEvents = DEFAULT_WINDOW_EVENTS;
        private @Nullable HttpClient http;
        private @Nullable BatchHandler handler;
        private int eventsAtOnce = 1;
        private int concurrency = 1;
        private boolean manualAck;
        private @Nullable Executor executor;
        private @Nullable Duration holdEvery;
        private Duration longestSilence = Duration.ofSeconds(30);
        private Duration closeTimeout = Duration.ofSeconds(10);

        private Builder(URI address, PipeName pipe) {
            this.address = address;
            this.pipe = pipe;
        }

        /** Called for each event. */
        public Builder onEvent(EventHandler each) {
            handler = events -> {
                for (RelayEvent event : events) {
                    each.handle(event);
                }
            };
            eventsAtOnce = 1;
            return this;
        }

        /** Called with what has come, at most so many events at once. */
        public Builder onBatch(int mostEvents, BatchHandler batch) {
            handler = batch;
            eventsAtOnce = positive("events in a batch", mostEvents);
            return this;
        }

        /** The handler's return answers nothing: {@link RelayEvent#ack} does. Without: it acks. */
        public Builder manualAck() {
            manualAck = true;
            return this;
        }

        /** How many calls of the handler there may be at once; 1, the default, keeps the order. */
        public Builder concurrency(int calls) {
            concurrency = positive("concurrency", calls);
            return this;
        }

        /** Where the handler is called. It is the caller's, who ends it after the consumer. */
        public Builder executor(Executor given) {
            executor = given;
            return this;
        }

        /** Events that wait for the handler, or are in its hands, get a HOLD that often: less than the pipe's ack timeout. */
        public Builder holdEvery(Duration interval) {
            holdEvery = positive("hold interval", interval);
            return this;
        }

        /** Whose acks count; {@code default} if not given. */
        public Builder subscription(String name) {
            return bind("subscription", name);
        }

        /** A new subscription begins behind the newest event. Without: with the oldest. */
        public Builder startLatest() {
            return bind("start", "latest");
        }

        /** A new subscription begins with this event. */
        public Builder startAt(long id) {
            return bind("start", String.valueOf(id));
        }

        /** A new subscription begins with the first event of that time or later. */
        public Builder startAt(Instant time) {
            return bind("start", time.toString());
        }

        /** Most events in flight: 1 to 65,536; 1,024 if not given. */
        public Builder window(int events) {
            windowEvents = positive("window", events);
            return bind("window", String.valueOf(events));
        }

        /** Most payload bytes in flight; one event always fits. */
        public Builder windowBytes(long bytes) {
            return bind("window-bytes", String.valueOf(bytes));
        }

        /** Most events in one frame. */
        public Builder batch(int events) {
            return bind("batch", String.valueOf(events));
        }

        /** Nothing later is sent while an earlier event waits for redelivery. */
        public Builder strict() {
            return bind("order", "strict");
        }

        /** What happens when the subscription has a holder; without: the holder keeps it. */
        public Builder mode(Mode mode) {
            return bind("mode", mode.option);
        }

        /** Events come with their headers. */
        public Builder headers() {
            return bind("headers", "1");
        }

        /** A client with a proxy, TLS or threads of its own. */
        public Builder http(HttpClient given) {
            http = given;
            return this;
        }

        /** After so much silence the connection is dead: the relay pings more often. 30 s if not given. */
        public Builder longestSilence(Duration silence) {
            longestSilence = positive("longest silence", silence);
            return this;
        }

        /** How long a close waits for the handler. 10 s if not given. */
        public Builder closeTimeout(Duration timeout) {
            closeTimeout = positive("close timeout", timeout);
            return this;
        }

        /** Connects, now and whenever the connection is lost, and begins. */
        public RelayConsumer start() {
            if (handler == null) {
                throw new IllegalStateException("consumer not started: pipe=" + pipe + "; give it onEvent or onBatch");
            }
            RelayConsumer consumer = new RelayConsumer(new ConsumerSide(new ConsumerOptions(
                    address,
                    pipe,
                    http != null ? http : HttpClient.newHttpClient(),
                    Map.copyOf(bind),
                    windowEvents,
                    handler,
                    manualAck,
                    eventsAtOnce,
                    concurrency,
                    executor,
                    holdEvery,
                    longestSilence,
                    closeTimeout)));
            consumer.side.start();
            return consumer;
        }

        private Builder bind(String option, String value) {
            bind.put(option, value);
            return this;
        }
    }

    static int positive(String what, int number) {
        if (number < 1) {
            throw new IllegalArgumentException(what + " must be at least 1: value=" + number);
        }
        return number;
    }

    static Duration positive(String what, Duration time) {
        if (time.isNegative() || time.isZero()) {
            throw new IllegalArgumentException(what + " must be longer than nothing: value=" + time);
        }
        return time;
    }

    /** What happens when the subscription has a holder. */
    public enum Mode {
        /** The holder keeps it if it lives. */
        EXCLUSIVE("exclusive"),
        /** The newcomer wins. */
        TAKEOVER("takeover"),
        /** The newcomer waits until the holder goes. */
        STANDBY("standby"),
        /** All are served, each event by one of them. */
        SHARED("shared");

        private final String option;

        Mode(String option) {
            this.option = option;
        }
    }
}
