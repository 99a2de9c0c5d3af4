package io.tabletrelay.harness;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;

/**
 * Consumes a pipe in dialect 1, connecting again after every loss; holds some events back, acks in random order, refuses
 * a few, acks on the new connection what it got on the old one, and records when it is certain that an ack was read.
 *
 * <p>That is certain when more events came on a connection than its window permits without the ack, and, for acks sent
 * before a BIND, when the first event came. A pipe that is opened anew meanwhile sends a whole window whatever is on its
 * way: events show that which come again though they were not refused.
 *
 * <p>Threading: thread-safe; consumes on a thread of its own from the constructor until {@link #close}.
 */
public final class TestConsumer implements AutoCloseable {
    private static final Duration QUIET = Duration.ofMillis(50);
    private static final Duration READY_TIMEOUT = Duration.ofSeconds(15);
    private static final long RECONNECT_MILLIS = 20;

    private final String pipe;
    private final Behaviour behaviour;
    private final IntSupplier port;
    private final History history;
    private final Random random;
    private final Thread thread;
    private final List<Long> held = new ArrayList<>();
    private final AtomicInteger bindings = new AtomicInteger();
    private volatile boolean closed;

    /** Starts consuming; the supplier says on which port the relay listens right now. */
    public TestConsumer(String pipe, Behaviour behaviour, IntSupplier port, History history, long seed) {
        this.pipe = pipe;
        this.behaviour = behaviour;
        this.port = port;
        this.history = history;
        this.random = new Random(seed);
        thread = new Thread(this::run, "consumer-" + pipe);
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
        List<Long> early = List.copyOf(random.nextBoolean() ? held : List.of());
        held.clear();
        for (long id : early) {
            client.sendText("ACK:" + id);
            history.acked(id);
        }
        client.sendText("BIND:" + pipe);
        if (!client.next(READY_TIMEOUT).text().equals("READY")) {
            throw new IOException("not bound: pipe=" + pipe);
        }
        bindings.incrementAndGet();
        new Connection(client, early).consume();
    }

    /** How often the pipe was bound to it. */
    public int bindings() {
        return bindings.get();
    }

    /** Ends at once; what is held stays unsettled. */
    @Override
    public void close() {
        closed = true;
        thread.interrupt();
    }

    /** Waits, after {@link #close}, until it records nothing more. */
    public void awaitEnd(Duration timeout) throws InterruptedException {
        thread.join(timeout.toMillis());
        if (thread.isAlive()) {
            throw new IllegalStateException("consumer has not ended: pipe=" + pipe);
        }
    }

    /**
     * How a consumer settles.
     *
     * @param windowEvents the pipe's window
     * @param refusePercent how many of a hundred deliveries are refused with ERROR
     * @param orderly true: acks each event at once, in order
     */
    public record Behaviour(int windowEvents, int refusePercent, boolean orderly) {}

    /** One bound connection: which lines were sent for how many frames. */
    private final class Connection {
        private final RawClient client;
        private final List<Long> early;
        private final List<Long> ackedByLine = new ArrayList<>();
        /** Came here, were not refused, and it is not known that their acks were read. */
        private final Set<Long> unread = new HashSet<>();
        /** So many say nothing of lines that were read. */
        private int framesBeforeReopening;

        private int frames;
        private int linesRead;

        Connection(RawClient client, List<Long> early) {
            this.client = client;
            this.early = early;
        }

        void consume() throws IOException {
            while (!closed) {
                RawClient.Frame frame = client.read(QUIET);
                if (frame == null) {
                    settleDownTo(0);
                } else if (frame.opcode() == RawClient.BINARY) {
                    delivered(frame);
                } else if (frame.opcode() == RawClient.CLOSE) {
                    throw new IOException("closed by the relay: code=" + frame.closeCode());
                }
            }
        }

        private void delivered(RawClient.Frame frame) throws IOException {
            frames++;
            if (!unread.add(frame.eventId())) {
                framesBeforeReopening = frames - 1 - linesRead;
            }
            // the relay had at most a window of frames without a line when it sent this one
            for (;
                    linesRead < Math.min(frames - framesBeforeReopening - behaviour.windowEvents(), ackedByLine.size());
                    linesRead++) {
                long id = ackedByLine.get(linesRead);
                if (id > 0) {
                    history.ackRead(id);
                    unread.remove(id);
                }
            }
            if (frames == 1) {
                early.forEach(history::ackRead);
            }
            history.delivered(frame.eventId(), frame.event());
            held.add(frame.eventId());
            settleDownTo(behaviour.orderly() ? 0 : random.nextInt(behaviour.windowEvents()));
        }

        private void settleDownTo(int left) throws IOException {
            while (held.size() > left) {
                long id = held.remove(random.nextInt(held.size()));
                boolean refuse = random.nextInt(100) < behaviour.refusePercent();
                client.sendText((refuse ? "ERROR:" : "ACK:") + id);
                ackedByLine.add(refuse ? 0 : id);
                if (refuse) {
                    unread.remove(id);
                } else {
                    history.acked(id);
                }
            }
        }
    }
}
