package io.tabletrelay.api.client;

import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One WebSocket connection: puts the parts of a message together and hands whole ones over.
 *
 * <p>Threading: called by the HTTP client's threads, one at a time; what stands under "loop" is confined to the client's loop.
 */
final class Link implements WebSocket.Listener {
    private static final int KEPT_BYTES = 1 << 20;
    private static final byte[] NOTHING = {};

    private final Connector connector;
    private final StringBuilder text = new StringBuilder();
    private byte[] parts = NOTHING;
    private int partBytes;
    private volatile long heardNanos = System.nanoTime();
    private volatile @Nullable WebSocket socket;
    private volatile boolean aborted;

    /** Loop: only one send may be under way. */
    private boolean sending;

    Link(Connector connector) {
        this.connector = connector;
    }

    @Override
    public void onOpen(WebSocket opened) {
        heardNanos = System.nanoTime();
        socket = opened;
        if (aborted) {
            opened.abort();
            return;
        }
        // The window bounds what comes. Without demand the JDK would read no ping either, and answer none.
        opened.request(Long.MAX_VALUE);
        connector.loop().run(() -> connector.opened(this, opened.getSubprotocol()));
    }

    @Override
    public @Nullable CompletionStage<?> onText(WebSocket from, CharSequence part, boolean last) {
        heardNanos = System.nanoTime();
        text.append(part);
        if (last) {
            String line = text.toString();
            text.setLength(0);
            connector.loop().run(() -> connector.line(this, line));
        }
        return null;
    }

    @Override
    public @Nullable CompletionStage<?> onBinary(WebSocket from, ByteBuffer part, boolean last) {
        heardNanos = System.nanoTime();
        int bytes = part.remaining();
        if (last && partBytes == 0) {
            byte[] whole = new byte[bytes];
            part.get(whole);
            received(whole);
            return null;
        }
        if (parts.length - partBytes < bytes) {
            parts = Arrays.copyOf(parts, Math.max(partBytes + bytes, 2 * parts.length));
        }
        part.get(parts, partBytes, bytes);
        partBytes += bytes;
        if (last) {
            received(Arrays.copyOf(parts, partBytes));
            partBytes = 0;
            parts = parts.length > KEPT_BYTES ? NOTHING : parts;
        }
        return null;
    }

    private void received(byte[] whole) {
        connector.loop().run(() -> connector.frame(this, ByteBuffer.wrap(whole)));
    }

    /** The JDK has the pong on its way already. */
    @Override
    public @Nullable CompletionStage<?> onPing(WebSocket from, ByteBuffer payload) {
        heardNanos = System.nanoTime();
        return null;
    }

    @Override
    public @Nullable CompletionStage<?> onPong(WebSocket from, ByteBuffer payload) {
        heardNanos = System.nanoTime();
        return null;
    }

    @Override
    public @Nullable CompletionStage<?> onClose(WebSocket from, int code, String reason) {
        connector.loop().run(() -> connector.over(this, code, reason));
        return null;
    }

    @Override
    public void onError(WebSocket from, Throwable error) {
        connector.loop().run(() -> connector.over(this, CloseCode.ABNORMAL, error.toString()));
    }

    long heardNanos() {
        return heardNanos;
    }

    boolean canSend() {
        return socket != null && !sending;
    }

    /** Loop. */
    void send(Outgoing message) {
        WebSocket to = socket;
        if (to == null) {
            return;
        }
        CompletableFuture<WebSocket> sent = message instanceof Outgoing.Line line
                ? to.sendText(line.text(), true)
                : to.sendBinary(((Outgoing.Frame) message).bytes(), true);
        if (sent.isDone() && !sent.isCompletedExceptionally()) {
            return;
        }
        sending = true;
        var unused = sent.whenComplete((done, e) -> connector.loop().run(() -> sent(e)));
    }

    private void sent(@Nullable Throwable e) {
        sending = false;
        if (e == null) {
            connector.pump();
        } else {
            connector.over(this, CloseCode.ABNORMAL, e.toString());
        }
    }

    /** Loop. Ends the connection in order; the relay answers. */
    void close() {
        WebSocket to = socket;
        if (to != null) {
            var unused = to.sendClose(CloseCode.NORMAL, "");
        }
    }

    /** Gives the connection up, in whatever state it is. */
    void abort() {
        aborted = true;
        WebSocket to = socket;
        if (to != null) {
            to.abort();
        }
    }
}
