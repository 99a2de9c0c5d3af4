package io.tabletrelay.harness;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Consumes as the released CDC client does: probes the port with a bare TCP connection, sends BIND at once, waits for
 * READY only the first time, buffers ten events and answers no ping while they wait, acks on whatever connection it has,
 * never refuses an event, and tries again about once a second.
 *
 * <p>Threading: thread-safe; a thread of its own connects and fills the buffer.
 */
public final class ReleasedClient implements AutoCloseable {
    private static final int BUFFERED_EVENTS = 10;
    private static final Duration READY_TIMEOUT = Duration.ofSeconds(30);
    private static final long RECONNECT_MILLIS = 1_000;

    private final String pipe;
    private final IntSupplier port;
    private final BlockingQueue<RawClient.Frame> buffer = new ArrayBlockingQueue<>(BUFFERED_EVENTS);
    private final Thread thread;
    private volatile @Nullable RawClient connection;
    private final AtomicInteger connections = new AtomicInteger();
    private final AtomicInteger refusals = new AtomicInteger();
    private volatile boolean closed;

    /** Starts connecting; the supplier says on which port the relay listens right now. */
    public ReleasedClient(String pipe, IntSupplier port) {
        this.pipe = pipe;
        this.port = port;
        thread = new Thread(this::run, "released-client-" + pipe);
        thread.setDaemon(true);
        thread.start();
    }

    /** Takes the next event out of the buffer; null if none comes in time. */
    public RawClient.@Nullable Frame poll(Duration timeout) throws InterruptedException {
        return buffer.poll(timeout.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Acks on the connection that is there now, whichever brought the event. False: there was none. */
    public boolean ack(long id) {
        RawClient now = connection;
        if (now == null) {
            return false;
        }
        try {
            now.sendText("ACK:" + id);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** Breaks the connection as a network would; the client connects again by itself. */
    public void breakConnection() {
        RawClient now = connection;
        if (now != null) {
            now.reset();
        }
    }

    /** How many WebSockets it has opened so far. */
    public int connections() {
        return connections.get();
    }

    /** How often its BIND was refused. */
    public int refusals() {
        return refusals.get();
    }

    private void run() {
        try {
            while (!closed) {
                try {
                    RawClient.tcp(port.getAsInt()).close();
                    consume(RawClient.connect(port.getAsInt()));
                } catch (IOException e) {
                    Thread.sleep(RECONNECT_MILLIS);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void consume(RawClient client) throws IOException, InterruptedException {
        try {
            boolean first = connections.incrementAndGet() == 1;
            connection = client;
            client.sendText("BIND:" + pipe);
            if (first && !client.next(READY_TIMEOUT).text().equals("READY")) {
                refusals.incrementAndGet();
                throw new IOException("not ready: pipe=" + pipe);
            }
            while (!closed) {
                take(client.read(Duration.ofMillis(200)));
            }
        } finally {
            connection = null;
            client.close();
        }
    }

    private void take(RawClient.@Nullable Frame frame) throws IOException, InterruptedException {
        if (frame == null) {
            return;
        }
        switch (frame.opcode()) {
            case RawClient.BINARY -> buffer.put(frame);
            case RawClient.CLOSE -> throw new IOException("closed by the relay: code=" + frame.closeCode());
            case RawClient.TEXT -> refusals.addAndGet(frame.text().equals("ERROR") ? 1 : 0);
            default -> {}
        }
    }

    @Override
    public void close() {
        closed = true;
        thread.interrupt();
        breakConnection();
    }
}
