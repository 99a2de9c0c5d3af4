package io.tabletrelay.harness.store;

import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.core.client.RefusedException;
import io.tabletrelay.core.client.RelayHttp;
import io.tabletrelay.harness.History;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Publishes groups of small documents, each group again until it is confirmed, also over the relay's restarts if it is
 * started again.
 *
 * <p>Threading: thread-safe; publishes on a thread of its own between {@link #start} and {@link #stop}.
 */
final class BatchProducer {
    private static final long RETRY_MILLIS = 5;
    private static final Duration END = Duration.ofSeconds(90);

    private final String pipe;
    private final String name;
    private final History history;
    private final Load load;
    private long sequence = 1;
    private List<ByteBuffer> documents = List.of();
    private volatile @Nullable Thread thread;
    private volatile boolean stopped;
    private volatile boolean powerIsGoing;
    private volatile @Nullable String failure;
    private volatile long confirmedGroups;

    BatchProducer(String pipe, String name, History history, Load load) {
        this.pipe = pipe;
        this.name = name;
        this.history = history;
        this.load = load;
    }

    /** Goes on with the group that was not confirmed. */
    void start(RelayHttp http) {
        stopped = false;
        powerIsGoing = false;
        long last = sequence + load.groups() - 1;
        Thread started = new Thread(() -> run(http, last), name);
        started.setDaemon(true);
        started.start();
        thread = started;
    }

    /** From now on the relay may refuse for any reason. */
    void powerIsGoing() {
        powerIsGoing = true;
    }

    /** The relay should be gone, or its answer is waited for. */
    void stop() throws InterruptedException {
        stopped = true;
        Thread started = thread;
        if (started != null) {
            started.join(END.toMillis());
            if (started.isAlive()) {
                throw new IllegalStateException("publish hangs: pipe=" + pipe + ", producer=" + name);
            }
        }
    }

    /** What must not have happened; null if nothing. */
    @Nullable
    String failure() {
        return failure;
    }

    long confirmedGroups() {
        return confirmedGroups;
    }

    private void run(RelayHttp http, long last) {
        try {
            while (!stopped && sequence <= last) {
                if (documents.isEmpty()) {
                    documents = documents(sequence);
                    documents.forEach(history::publishing);
                }
                if (published(http)) {
                    documents = List.of();
                    sequence++;
                    confirmedGroups = sequence - 1;
                    Thread.sleep(load.pauseMillis());
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean published(RelayHttp http) throws InterruptedException {
        try {
            RelayHttp.Stored stored =
                    http.publish(pipe, "json", Map.of(), body(), new ProducerSequence(name, sequence));
            if (!powerIsGoing) { // a machine without power confirms nothing, whatever this one goes on to say
                confirmed(stored);
                return true;
            }
        } catch (RefusedException refused) {
            if (!refused.retryable() && !powerIsGoing) {
                failure = "refused: pipe=" + pipe + ", producer=" + name + ", sequence=" + sequence + ", reason="
                        + refused.getMessage();
                stopped = true;
            }
        } catch (IOException e) {
            // what became of it is not known: the same sequence tells
        }
        Thread.sleep(RETRY_MILLIS);
        return false;
    }

    private void confirmed(RelayHttp.Stored stored) {
        if (stored.firstId() == 0) {
            documents.forEach(history::confirmed);
            return;
        }
        long id = stored.firstId();
        for (ByteBuffer document : documents) {
            history.confirmed(id++, document);
        }
    }

    private ByteBuffer body() {
        StringBuilder all = new StringBuilder("[");
        for (ByteBuffer document : documents) {
            all.append(all.length() == 1 ? "" : ",").append(StandardCharsets.UTF_8.decode(document.duplicate()));
        }
        return ByteBuffer.wrap(all.append(']').toString().getBytes(StandardCharsets.UTF_8));
    }

    private List<ByteBuffer> documents(long number) {
        List<ByteBuffer> all = new ArrayList<>();
        String pad = "x".repeat(load.padBytes());
        for (int i = 0; i < load.groupEvents(); i++) {
            String json = "{\"w\":\"" + name + "\",\"s\":" + number + ",\"i\":" + i + ",\"pad\":\"" + pad + "\"}";
            all.add(ByteBuffer.wrap(json.getBytes(StandardCharsets.UTF_8)));
        }
        return all;
    }

    /**
     * What it publishes between a start and a stop.
     *
     * @param groups at most so many
     */
    record Load(int groupEvents, int padBytes, int groups, int pauseMillis) {}
}
