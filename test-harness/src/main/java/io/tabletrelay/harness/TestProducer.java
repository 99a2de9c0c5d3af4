package io.tabletrelay.harness;

import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.core.client.RefusedException;
import io.tabletrelay.core.client.RelayHttp;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Publishes a feed over HTTP, each body again and again with the same sequence until the relay confirms it, whatever
 * happens to the relay meanwhile; records every attempt and confirmation.
 *
 * <p>Threading: thread-safe; publishes on a thread of its own, from the constructor until {@link #finish} or its end.
 */
public final class TestProducer implements AutoCloseable {
    private static final long RETRY_MILLIS = 20;

    private final Feed feed;
    private final History history;
    private final Supplier<URI> server;
    private final Thread thread;
    private volatile boolean finishing;
    private volatile boolean closed;
    private volatile long lastStored;
    private volatile @Nullable String failure;

    /** The producer's thread alone uses these. */
    private URI address;

    private RelayHttp http;

    /** Starts publishing; the supplier says where the relay is right now. */
    public TestProducer(Feed feed, Supplier<URI> server, History history) {
        this.feed = feed;
        this.server = server;
        this.history = history;
        address = server.get();
        http = new RelayHttp(address);
        thread = new Thread(this::run, "producer-" + feed.producer());
        thread.setDaemon(true);
        thread.start();
    }

    /** The last sequence that the relay has confirmed. */
    public long lastStored() {
        return lastStored;
    }

    /** Ends after the publish that is under way, once it is confirmed. */
    public void finish(Duration timeout) throws InterruptedException {
        finishing = true;
        awaitEnd(timeout);
    }

    /** Waits until the whole feed is confirmed. */
    public void awaitEnd(Duration timeout) throws InterruptedException {
        thread.join(timeout.toMillis());
        if (thread.isAlive() || failure != null) {
            throw new IllegalStateException("producer has not finished: producer=" + feed.producer() + ", stored="
                    + lastStored + ", failure=" + failure);
        }
    }

    /** Ends at once, whether or not a publish is confirmed. */
    @Override
    public void close() {
        closed = true;
        thread.interrupt();
    }

    private void run() {
        try {
            for (long sequence = 1; sequence <= feed.last() && !finishing && publish(sequence); sequence++) {
                lastStored = sequence;
                Thread.sleep(feed.pause().toMillis());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            failure = e.toString();
        }
    }

    /** Returns false if this producer was closed before the relay confirmed. */
    private boolean publish(long sequence) throws InterruptedException {
        ByteBuffer body = feed.bodies().apply(sequence);
        if (feed.asIs()) {
            history.publishing(body);
        }
        while (!closed) {
            try {
                confirmed(
                        http().publish(
                                        feed.pipe(),
                                        feed.type(),
                                        Map.of(),
                                        body,
                                        new ProducerSequence(feed.producer(), sequence)),
                        body);
                return true;
            } catch (RefusedException refused) {
                if (!refused.retryable()) {
                    throw refused;
                }
            } catch (IOException e) {
                // what became of it is not known: the same sequence tells
            }
            Thread.sleep(RETRY_MILLIS);
        }
        return false;
    }

    /** The client of the relay that runs now: made anew only where that has changed. */
    private RelayHttp http() {
        URI now = server.get();
        if (!now.equals(address)) {
            address = now;
            http = new RelayHttp(now);
        }
        return http;
    }

    private void confirmed(RelayHttp.Stored stored, ByteBuffer body) {
        if (!feed.asIs()) {
            if (stored.firstId() > 0) {
                history.confirmed(stored.firstId(), stored.lastId());
            }
        } else if (stored.firstId() > 0) {
            history.confirmed(stored.firstId(), body);
        } else {
            history.confirmed(body);
        }
    }
}
