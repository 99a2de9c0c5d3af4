package io.tabletrelay.harness.store;

import io.tabletrelay.harness.History;
import io.tabletrelay.harness.RawClient;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.IntSupplier;

/**
 * Acks every second event at once, and of the others the older half only when its window is nearly full: the ids between
 * the oldest unsettled and the newest delivered are as many as they can be.
 *
 * <p>Threading: thread-safe; consumes on a thread of its own from the constructor until {@link #end}.
 */
final class WideConsumer {
    private static final Duration QUIET = Duration.ofMillis(50);
    private static final Duration READY = Duration.ofSeconds(15);
    private static final long RECONNECT_MILLIS = 10;

    private final String pipe;
    private final int windowEvents;
    private final IntSupplier port;
    private final History history;
    private final Thread thread;
    private volatile boolean closed;

    WideConsumer(String pipe, int windowEvents, IntSupplier port, History history) {
        this.pipe = pipe;
        this.windowEvents = windowEvents;
        this.port = port;
        this.history = history;
        thread = new Thread(this::run, "wide-consumer-" + pipe);
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        try {
            while (!closed) {
                try (RawClient client = RawClient.connect(port.getAsInt())) {
                    consume(client);
                } catch (IOException e) {
                    Thread.sleep(RECONNECT_MILLIS);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void consume(RawClient client) throws IOException {
        Deque<Long> held = new ArrayDeque<>();
        client.sendText("BIND:" + pipe);
        if (!client.next(READY).text().equals("READY")) {
            throw new IOException("not bound: pipe=" + pipe);
        }
        while (!closed) {
            RawClient.Frame frame = client.read(QUIET);
            if (frame != null && frame.opcode() == RawClient.CLOSE) {
                throw new IOException("closed by the relay: code=" + frame.closeCode());
            }
            if (frame != null && frame.opcode() == RawClient.BINARY) {
                long id = frame.eventId();
                history.delivered(id, frame.event());
                held.add(id);
                if (id % 2 == 0) {
                    held.removeLast();
                    ack(client, id);
                }
            }
            while (held.size() > windowEvents * 9 / 10) {
                ack(client, held.removeFirst());
            }
        }
    }

    private void ack(RawClient client, long id) throws IOException {
        client.sendText("ACK:" + id);
        history.acked(id);
    }

    /** Ends; what is held stays unsettled. */
    void end() throws InterruptedException {
        closed = true;
        thread.join();
    }
}
