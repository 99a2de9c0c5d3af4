package io.tabletrelay.core.server;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import org.java_websocket.WebSocketImpl;
import org.java_websocket.WebSocketListener;
import org.jspecify.annotations.Nullable;

/**
 * The library's socket, with everything that may be thrown while bytes are read kept inside: an Error that reached the
 * library's worker thread would end the whole server.
 *
 * <p>Threading: created by the selector thread, which also attaches the connection before the first byte is read.
 */
final class EdgeSocket extends WebSocketImpl {
    private final EdgeDraft edgeDraft;
    private volatile @Nullable Connection connection;

    EdgeSocket(WebSocketListener listener, EdgeDraft draft) {
        super(listener, List.of(draft));
        edgeDraft = draft;
    }

    /** The draft, before the handshake too. */
    EdgeDraft edgeDraft() {
        return edgeDraft;
    }

    void attach(Connection accepted) {
        connection = accepted;
    }

    Connection connection() {
        return Objects.requireNonNull(connection, "connection");
    }

    @Override
    public void decode(ByteBuffer bytes) {
        try {
            super.decode(bytes);
        } catch (Throwable t) { // errors too
            connection().failed(t);
        }
    }
}
