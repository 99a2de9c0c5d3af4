package io.tabletrelay.core.client;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * One connection that consumes a pipe in dialect 1. It ends with an IOException when the connection does; connect again
 * then.
 *
 * <p>Threading: confined to the thread that connected; frames come in on the HTTP client's threads and are queued.
 */
public final class Dialect1Consumer implements AutoCloseable {
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);
    private static final int ABNORMAL_CLOSURE = 1006;
    private static final long SEND_TIMEOUT_SECONDS = 30;
    private static final long CLOSE_TIMEOUT_SECONDS = 5;
    /** The relay pings every ten seconds: after this much silence the connection is dead. */
    private static final Duration LONGEST_SILENCE = Duration.ofSeconds(45);

    private final String pipe;
    private final WebSocket socket;
    private final Incoming incoming;

    private Dialect1Consumer(String pipe, WebSocket socket, Incoming incoming) {
        this.pipe = pipe;
        this.socket = socket;
        this.incoming = incoming;
    }

    /**
     * Connects and waits until the relay has bound the pipe to this connection.
     *
     * @param http has threads of its own: the same for every connection
     */
    public static Dialect1Consumer connect(HttpClient http, URI address, String pipe)
            throws IOException, InterruptedException {
        Incoming incoming = new Incoming();
        WebSocket socket;
        try {
            socket = http.newWebSocketBuilder()
                    .connectTimeout(CONNECT_TIMEOUT)
                    .buildAsync(address, incoming)
                    .join();
        } catch (CompletionException e) {
            throw new IOException("cannot connect to the relay: ws=" + address + "; is it running?", e);
        }
        Dialect1Consumer consumer = new Dialect1Consumer(pipe, socket, incoming);
        try {
            consumer.bind();
        } catch (IOException | InterruptedException e) {
            socket.abort();
            throw e;
        }
        return consumer;
    }

    private void bind() throws IOException, InterruptedException {
        sendLine("BIND:" + pipe);
        Signal signal = next(LONGEST_SILENCE, true);
        if (!(signal instanceof Signal.Text text) || !text.line().equals("READY")) {
            throw new IOException("pipe is not free: pipe=" + pipe + "; another consumer holds it");
        }
    }

    /** Waits for the next event, or for an IOException that says how the connection ended. */
    public Delivery next() throws IOException, InterruptedException {
        while (true) {
            Signal signal = next(LONGEST_SILENCE, false);
            if (signal instanceof Signal.Data data) {
                return new Delivery(data.bytes().getLong(0), data.bytes().position(Long.BYTES));
            }
        }
    }

    /** The event is done with. Returns when the line is on its way. */
    public void ack(long id) throws IOException, InterruptedException {
        sendLine("ACK:" + id);
    }

    /**
     * Ends the connection in order: the relay answers a close only after it has read every line before it.
     *
     * @throws IOException if no answer came; then it is not known which acks were read
     */
    public void finish() throws IOException, InterruptedException {
        var unused = socket.sendClose(WebSocket.NORMAL_CLOSURE, "");
        long endNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(CLOSE_TIMEOUT_SECONDS);
        while (System.nanoTime() < endNanos) {
            Signal signal = incoming.signals.poll(100, TimeUnit.MILLISECONDS);
            if (signal instanceof Signal.Closed closed) {
                if (closed.code() == ABNORMAL_CLOSURE) {
                    throw end(closed.reason());
                }
                return;
            }
        }
        throw end("the close was not answered");
    }

    /** Gives the connection up, in whatever state it is. */
    @Override
    public void close() {
        socket.abort();
    }

    private Signal next(Duration silence, boolean textToo) throws IOException, InterruptedException {
        while (true) {
            Signal signal = incoming.signals.poll(silence.toMillis(), TimeUnit.MILLISECONDS);
            if (signal == null) {
                throw end("nothing was heard from the relay for " + silence.toSeconds() + " s");
            }
            if (signal instanceof Signal.Closed closed) {
                throw end(closed.reason());
            }
            if (signal instanceof Signal.Data || (textToo && signal instanceof Signal.Text)) {
                return signal;
            }
        }
    }

    private void sendLine(String line) throws IOException, InterruptedException {
        try {
            var unused = socket.sendText(line, true).get(SEND_TIMEOUT_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw end("a line could not be sent");
        }
    }

    private IOException end(String reason) {
        socket.abort();
        return new IOException("connection lost: pipe=" + pipe + ", reason=" + reason);
    }

    /**
     * One event as it came.
     *
     * @param payload from its position to its limit
     */
    public record Delivery(long id, ByteBuffer payload) {}

    /** What the socket's threads hand over. */
    private sealed interface Signal {
        record Text(String line) implements Signal {}

        record Data(ByteBuffer bytes) implements Signal {}

        record Life() implements Signal {}

        record Closed(int code, String reason) implements Signal {}
    }

    /** Puts frames together and queues them; asks for the next frame at once, since the relay's window bounds them. */
    private static final class Incoming implements WebSocket.Listener {
        private final BlockingQueue<Signal> signals = new LinkedBlockingQueue<>();
        private final StringBuilder text = new StringBuilder();
        private final ByteArrayOutputStream data = new ByteArrayOutputStream();

        @Override
        public @Nullable CompletableFuture<?> onText(WebSocket socket, CharSequence part, boolean last) {
            text.append(part);
            if (last) {
                signals.add(new Signal.Text(text.toString()));
                text.setLength(0);
            }
            socket.request(1);
            return null;
        }

        @Override
        public @Nullable CompletableFuture<?> onBinary(WebSocket socket, ByteBuffer part, boolean last) {
            byte[] bytes = new byte[part.remaining()];
            part.get(bytes);
            data.writeBytes(bytes);
            if (last) {
                signals.add(whole(ByteBuffer.wrap(data.toByteArray())));
                data.reset();
            }
            socket.request(1);
            return null;
        }

        private static Signal whole(ByteBuffer frame) {
            return frame.remaining() < Long.BYTES
                    ? new Signal.Closed(
                            ABNORMAL_CLOSURE, "a binary frame is too short to be an event: bytes=" + frame.remaining())
                    : new Signal.Data(frame);
        }

        @Override
        public @Nullable CompletableFuture<?> onPing(WebSocket socket, ByteBuffer payload) {
            signals.add(new Signal.Life());
            socket.request(1);
            return null;
        }

        @Override
        public @Nullable CompletableFuture<?> onClose(WebSocket socket, int code, String reason) {
            signals.add(new Signal.Closed(code, "closed by the relay: code=" + code + ", reason=" + reason));
            return null;
        }

        @Override
        public void onError(WebSocket socket, Throwable error) {
            signals.add(new Signal.Closed(ABNORMAL_CLOSURE, error.toString()));
        }
    }
}
