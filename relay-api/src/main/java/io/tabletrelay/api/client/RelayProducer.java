package io.tabletrelay.api.client;

import io.tabletrelay.api.PipeName;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * Publishes to a pipe, in order, and stays connected.
 *
 * <p>With a producer name each event is stored exactly once, whatever happens to the connection or the relay; one producer uses
 * a name at a time. Without a name, or across a crash of this process before an answer, an event may be stored twice.
 *
 * <p>What the relay refuses for now (a full pipe, a full disk) is sent again by the producer itself, in order: what was
 * published later waits. What it refuses for good fails that event alone, with {@link io.tabletrelay.api.RelayException}.
 *
 * <p>Threading: thread-safe; events of one thread keep their order. Results complete on the producer's own thread: do not block
 * in what you chain to them. A publish there does not wait for room.
 */
public final class RelayProducer implements AutoCloseable {
    private static final byte[] NO_HEADERS = {'{', '}'};

    private final ProducerSide side;
    private final boolean headerBlocks;

    private RelayProducer(ProducerSide side, boolean headerBlocks) {
        this.side = side;
        this.headerBlocks = headerBlocks;
    }

    /**
     * Begins the description of a producer.
     *
     * @param address of the relay's WebSocket port
     */
    public static Builder builder(URI address, PipeName pipe) {
        return new Builder(address, pipe);
    }

    /** Completes when the relay has accepted the producer for the first time. */
    public CompletableFuture<Void> ready() {
        return side.ready();
    }

    /** Completes when the producer was closed or has finished; fails with {@link RelayClosedException} if the relay ended it. */
    public CompletableFuture<Void> completion() {
        return side.completion();
    }

    /** As {@link #publish(ByteBuffer, Map)}. */
    public CompletableFuture<Stored> publish(byte[] bytes) throws InterruptedException {
        return publish(ByteBuffer.wrap(bytes), Map.of());
    }

    /**
     * Publishes one event; waits while too much is unanswered.
     *
     * @param bytes copied before this returns
     * @param headers empty unless the producer was built with headers
     * @return completes once the event is durable; fails with {@link io.tabletrelay.api.RelayException} if it was refused for
     *     good, with {@link RelayClosedException} if the producer ended before the answer: then it may be stored or not
     */
    public CompletableFuture<Stored> publish(ByteBuffer bytes, Map<String, String> headers)
            throws InterruptedException {
        Unanswered.Item item = item(bytes, headers);
        if (side.isOnLoop()) {
            side.room().squeezeIn(item.frameBytes());
        } else {
            side.room().enter(item.frameBytes());
        }
        return side.publish(item);
    }

    /** As {@link #publish(ByteBuffer, Map)}, but never waits: empty if too much is unanswered. */
    public Optional<CompletableFuture<Stored>> tryPublish(ByteBuffer bytes, Map<String, String> headers) {
        Unanswered.Item item = item(bytes, headers);
        return side.room().tryEnter(item.frameBytes()) ? Optional.of(side.publish(item)) : Optional.empty();
    }

    private Unanswered.Item item(ByteBuffer bytes, Map<String, String> headers) {
        if (!headerBlocks && !headers.isEmpty()) {
            throw new IllegalArgumentException(
                    "event has headers: names=" + headers.keySet() + "; build the producer with headers");
        }
        byte[] block = headers.isEmpty() ? NO_HEADERS : Json.write(headers).getBytes(StandardCharsets.UTF_8);
        int blockBytes = headerBlocks ? Integer.BYTES + block.length : 0;
        ByteBuffer frame =
                ByteBuffer.allocate(Long.BYTES + blockBytes + bytes.remaining()).position(Long.BYTES);
        if (headerBlocks) {
            frame.putInt(block.length).put(block);
        }
        return new Unanswered.Item(frame.put(bytes.duplicate()).flip(), bytes.remaining());
    }

    /** Completes once everything published before is answered, stored or refused. */
    public CompletableFuture<Void> flush() {
        return side.flush();
    }

    /** Ends the stream for good, behind everything published before; completes once that is durable. The producer is closed then. */
    public CompletableFuture<Void> finish() {
        return side.finish();
    }

    /** Waits until everything is answered, but not longer than the close timeout, and ends the connection. */
    @Override
    public void close() {
        CompletableFuture<Void> stopped = side.stop();
        if (side.isOnLoop()) {
            return;
        }
        try {
            stopped.join();
        } catch (CompletionException e) {
            // it ended before: completion() says why
        }
    }

    /**
     * What a producer is to be.
     *
     * <p>Threading: confined to its caller.
     */
    public static final class Builder {
        private final URI address;
        private final PipeName pipe;
        private final Map<String, String> publish = new LinkedHashMap<>();
        private @Nullable HttpClient http;
        private boolean named;
        private boolean headers;
        private int unansweredEvents = 1_024;
        private long unansweredBytes = 8 << 20;
        private Duration longestSilence = Duration.ofSeconds(30);
        private Duration closeTimeout = Duration.ofSeconds(10);

        private Builder(URI address, PipeName pipe) {
            this.address = address;
            this.pipe = pipe;
        }

        /** Makes publishing idempotent. A producer of the same name that is connected elsewhere is ended. */
        public Builder name(String producer) {
            named = true;
            return option("producer", producer);
        }

        /** Which serializer takes the bytes; the pipe's own if not given. */
        public Builder type(String sourceType) {
            return option("type", sourceType);
        }

        /** Events may have headers. */
        public Builder headers() {
            headers = true;
            return option("headers", "1");
        }

        /** How much may be published and not yet answered before a publish waits; 1,024 and 8 MiB if not given. */
        public Builder unanswered(int mostEvents, long mostBytes) {
            unansweredEvents = RelayConsumer.positive("unanswered events", mostEvents);
            unansweredBytes = mostBytes;
            return this;
        }

        /** A client with a proxy, TLS or threads of its own. */
        public Builder http(HttpClient given) {
            http = given;
            return this;
        }

        /** After so much silence the connection is dead: the relay pings more often. 30 s if not given. */
        public Builder longestSilence(Duration silence) {
            longestSilence = RelayConsumer.positive("longest silence", silence);
            return this;
        }

        /** How long a close waits for answers. 10 s if not given. */
        public Builder closeTimeout(Duration timeout) {
            closeTimeout = RelayConsumer.positive("close timeout", timeout);
            return this;
        }

        /** Connects, now and whenever the connection is lost. */
        public RelayProducer start() {
            RelayProducer producer = new RelayProducer(
                    new ProducerSide(new ProducerOptions(
                            address,
                            pipe,
                            http != null ? http : HttpClient.newHttpClient(),
                            Map.copyOf(publish),
                            named,
                            headers,
                            unansweredEvents,
                            unansweredBytes,
                            longestSilence,
                            closeTimeout)),
                    headers);
            producer.side.start();
            return producer;
        }

        private Builder option(String name, String value) {
            publish.put(name, value);
            return this;
        }
    }
}
