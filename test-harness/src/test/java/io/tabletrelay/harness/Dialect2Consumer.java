package io.tabletrelay.harness;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;

/**
 * Consumes a subscription in dialect 2, connecting again after every loss: acks with ACKTO and lists, refuses a few, changes
 * its window, unbinds and binds again, all at random. An ack was certainly read where ACKED names its event.
 *
 * <p>Threading: thread-safe; consumes on a thread of its own from the constructor until {@link #close}.
 */
final class Dialect2Consumer implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration QUIET = Duration.ofMillis(30);
    private static final long RECONNECT_MILLIS = 20;
    private static final int ACK_BEHIND = 200;

    private final String binding;
    private final IntSupplier port;
    private final History history;
    private final Random random;
    private final Thread thread;
    private final SortedMap<Long, Map.Entry<String, Long>> received = new TreeMap<>();
    /** Of this connection: sent to it, and neither acked nor refused. */
    private final TreeSet<Long> held = new TreeSet<>();

    private final AtomicInteger bindings = new AtomicInteger();
    private volatile boolean closed;

    /** Starts consuming; the binding is what stands behind {@code BIND:}. */
    Dialect2Consumer(String binding, IntSupplier port, History history, long seed) {
        this.binding = binding;
        this.port = port;
        this.history = history;
        this.random = new Random(seed);
        thread = new Thread(this::run, "consumer-" + binding);
        thread.setDaemon(true);
        thread.start();
    }

    /** How often it was bound. */
    int bindings() {
        return bindings.get();
    }

    /** Producer and sequence of each event by its id. */
    synchronized SortedMap<Long, Map.Entry<String, Long>> received() {
        return new TreeMap<>(received);
    }

    @Override
    public void close() {
        closed = true;
        thread.interrupt();
    }

    private void run() {
        try {
            while (!closed) {
                try (Dialect2Client client = Dialect2Client.connect(port.getAsInt())) {
                    bind(client);
                    while (!closed) {
                        step(client);
                    }
                } catch (IOException e) {
                    Thread.sleep(RECONNECT_MILLIS);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void bind(Dialect2Client client) throws IOException {
        held.clear();
        client.ask("BIND:" + binding);
        bindings.incrementAndGet();
    }

    private void step(Dialect2Client client) throws IOException {
        Dialect2Client.Received event = client.within(QUIET);
        if (event == null) {
            answered(client);
            ackAll(client);
            return;
        }
        for (String line = client.lineBeforeLastRecord(); line != null; line = client.lineBeforeLastRecord()) {
            answered(line);
        }
        history.delivered(event.id(), event.payload());
        remember(event);
        held.add(event.id());
        if (random.nextInt(50) == 0) {
            refuse(client, event.id());
        } else if (random.nextInt(20) == 0 || held.size() > ACK_BEHIND) {
            ackSome(client);
        } else if (random.nextInt(300) == 0) {
            client.line("WINDOW:" + (1 + random.nextInt(500)));
        } else if (random.nextInt(2_000) == 0) {
            client.line("HOLD:" + event.id());
        } else if (random.nextInt(3_000) == 0) {
            bindAgain(client);
        }
    }

    private synchronized void remember(Dialect2Client.Received event) throws IOException {
        JsonNode json = JSON.readTree(
                StandardCharsets.UTF_8.decode(event.payload().duplicate()).toString());
        received.put(
                event.id(),
                Map.entry(json.path("producer").asText(), json.path("n").asLong()));
    }

    private void refuse(Dialect2Client client, long id) throws IOException {
        client.line(random.nextBoolean() ? "NACK:" + id : "NACK:" + id + ":" + random.nextInt(100) + ":at random");
        held.remove(id);
    }

    private void ackSome(Dialect2Client client) throws IOException {
        long upTo = held.first() + random.nextLong(held.last() - held.first() + 1);
        if (random.nextInt(4) == 0) {
            long id = held.floor(upTo);
            client.line("ACK:" + id);
            history.acked(id);
            held.remove(id);
        } else {
            ackUpTo(client, upTo);
        }
    }

    private void ackAll(Dialect2Client client) throws IOException {
        if (!held.isEmpty()) {
            ackUpTo(client, held.last());
        }
    }

    private void ackUpTo(Dialect2Client client, long upTo) throws IOException {
        client.line("ACKTO:" + upTo);
        held.headSet(upTo, true).forEach(history::acked);
        held.headSet(upTo, true).clear();
    }

    /** What was received before UNBOUND is forgotten: it comes again. */
    private void bindAgain(Dialect2Client client) throws IOException {
        client.line("UNBIND");
        List<String> answers = new ArrayList<>();
        for (String line = client.nextLine(); !line.equals("UNBOUND"); line = client.nextLine()) {
            answers.add(line);
        }
        for (Dialect2Client.Received event = client.within(Duration.ZERO);
                event != null;
                event = client.within(Duration.ZERO)) {
            history.delivered(event.id(), event.payload());
            remember(event);
        }
        for (String line : answers) {
            answered(line);
        }
        bind(client);
    }

    private void answered(Dialect2Client client) throws IOException {
        for (String line = client.lineWithin(Duration.ZERO); line != null; line = client.lineWithin(Duration.ZERO)) {
            answered(line);
        }
    }

    private void answered(String line) throws IOException {
        if (!line.startsWith("ACKED:")) {
            throw new IOException("not expected: line=" + line);
        }
        for (String part : line.substring("ACKED:".length()).split(",", -1)) {
            String[] ends = part.split("-", -1);
            long last = Long.parseLong(ends[ends.length - 1]);
            for (long id = Long.parseLong(ends[0]); id <= last; id++) {
                history.ackRead(id);
            }
        }
    }
}
