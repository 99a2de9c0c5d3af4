package io.tabletrelay.harness;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.IntSupplier;

/**
 * Publishes JSON events over dialect 2 under a producer name, many before the first is answered, and goes on behind what
 * READY says after every loss; records every attempt and confirmation, and where the relay forgot or invented a sequence.
 *
 * <p>Threading: thread-safe; publishes on a thread of its own from the constructor until {@link #finish} or its end.
 */
final class Dialect2Producer implements AutoCloseable {
    private static final int UNANSWERED = 100;
    private static final long RECONNECT_MILLIS = 20;
    private static final long REST_MILLIS = 1;

    private final String pipe;
    private final String name;
    private final IntSupplier port;
    private final History history;
    private final Thread thread;
    private volatile boolean finishing;
    private volatile boolean closed;
    private volatile String failure = "";
    private volatile long stored;
    private volatile long sent;

    Dialect2Producer(String pipe, String name, IntSupplier port, History history) {
        this.pipe = pipe;
        this.name = name;
        this.port = port;
        this.history = history;
        thread = new Thread(this::run, "producer-" + name);
        thread.setDaemon(true);
        thread.start();
    }

    static byte[] body(String name, long sequence) {
        return ("{\"producer\":\"" + name + "\",\"n\":" + sequence + ",\"pad\":\"" + Padding.of(sequence) + "\"}")
                .getBytes(StandardCharsets.UTF_8);
    }

    String name() {
        return name;
    }

    /** The last sequence that was confirmed. */
    long stored() {
        return stored;
    }

    /** Ends once all that was sent is confirmed. */
    void finish(Duration timeout) throws InterruptedException {
        finishing = true;
        thread.join(timeout.toMillis());
        if (thread.isAlive() || !failure.isEmpty()) {
            throw new IllegalStateException("producer has not finished: producer=" + name + ", sent=" + sent
                    + ", stored=" + stored + ", failure=" + failure);
        }
    }

    @Override
    public void close() {
        closed = true;
        thread.interrupt();
    }

    private void run() {
        try {
            while (!closed && !(finishing && stored == sent)) {
                try (Dialect2Client client = Dialect2Client.connect(port.getAsInt())) {
                    publish(client);
                } catch (IOException e) {
                    Thread.sleep(RECONNECT_MILLIS);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            failure = e.toString();
        }
    }

    private void publish(Dialect2Client client) throws IOException, InterruptedException {
        long last = client.ask("PUBLISH:" + pipe + "?type=json&producer=" + name)
                .path("last")
                .asLong(-1);
        if (last < stored || last > sent) {
            throw new IllegalStateException("last=" + last + ", though stored=" + stored + ", sent=" + sent);
        }
        confirmed(last);
        long next = last + 1;
        while (!closed && !(finishing && next > sent && stored == sent)) {
            if (next - stored <= UNANSWERED && !(finishing && next > sent)) {
                byte[] body = body(name, next);
                history.publishing(ByteBuffer.wrap(body));
                sent = Math.max(sent, next);
                client.publish(next++, body);
                Thread.sleep(REST_MILLIS);
            }
            boolean full = next - stored > UNANSWERED || finishing;
            String line = client.lineWithin(full ? Duration.ofMillis(20) : Duration.ZERO);
            if (line != null) {
                answered(line);
            }
        }
    }

    private void answered(String line) {
        if (!line.startsWith("STORED:")) {
            throw new IllegalStateException("answer=" + line);
        }
        long upTo = Long.parseLong(line.substring("STORED:".length()));
        if (upTo > sent) {
            throw new IllegalStateException("answer=" + line + ", though sent=" + sent);
        }
        confirmed(upTo);
    }

    private void confirmed(long upTo) {
        for (long sequence = stored + 1; sequence <= upTo; sequence++) {
            history.confirmed(ByteBuffer.wrap(body(name, sequence)));
        }
        stored = Math.max(stored, upTo);
    }
}
