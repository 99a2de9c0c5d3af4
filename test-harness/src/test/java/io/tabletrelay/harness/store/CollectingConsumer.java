package io.tabletrelay.harness.store;

import io.tabletrelay.harness.RawClient;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Consumes a pipe, acks each event at once, and keeps what each id was delivered with; connects again after every loss.
 *
 * <p>Threading: thread-safe; consumes on a thread of its own from the constructor until {@link #close}.
 */
final class CollectingConsumer implements AutoCloseable {
    private static final Duration QUIET = Duration.ofMillis(50);
    private static final Duration READY_TIMEOUT = Duration.ofSeconds(15);

    private final String pipe;
    private final IntSupplier port;
    private final Map<Long, String> payloads = new ConcurrentHashMap<>();
    private final List<String> faults = new CopyOnWriteArrayList<>();
    private final Thread thread;
    private volatile boolean closed;

    CollectingConsumer(String pipe, IntSupplier port) {
        this.pipe = pipe;
        this.port = port;
        thread = new Thread(this::run, "consumer-" + pipe);
        thread.setDaemon(true);
        thread.start();
    }

    /** What this id was delivered with, or null. */
    @Nullable
    String payload(long id) {
        return payloads.get(id);
    }

    Collection<String> payloads() {
        return payloads.values();
    }

    /** Ids that came with more than one payload. */
    List<String> faults() {
        return List.copyOf(faults);
    }

    @Override
    public void close() {
        closed = true;
        thread.interrupt();
    }

    private void run() {
        try {
            while (!closed) {
                try (RawClient client = RawClient.connect(port.getAsInt())) {
                    consume(client);
                } catch (IOException | RuntimeException e) { // the relay is down, or not there yet
                    TimeUnit.MILLISECONDS.sleep(50);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void consume(RawClient client) throws IOException {
        client.sendText("BIND:" + pipe);
        if (!client.next(READY_TIMEOUT).text().equals("READY")) {
            throw new IOException("not bound: pipe=" + pipe);
        }
        while (!closed) {
            RawClient.Frame frame = client.read(QUIET);
            if (frame != null && frame.opcode() == RawClient.CLOSE) {
                throw new IOException("closed by the relay: code=" + frame.closeCode());
            }
            if (frame != null && frame.opcode() == RawClient.BINARY) {
                long id = frame.eventId();
                String payload = StandardCharsets.UTF_8.decode(frame.event()).toString();
                String before = payloads.put(id, payload);
                if (before != null && !before.equals(payload)) {
                    faults.add("id=" + id + " was " + before + " and is " + payload);
                }
                client.sendText("ACK:" + id);
            }
        }
    }
}
