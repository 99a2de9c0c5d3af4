package io.tabletrelay.core.server;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.java_websocket.WebSocketImpl;
import org.java_websocket.WrappedByteChannel;
import org.jspecify.annotations.Nullable;

/**
 * One socket's bytes under the library: says what was really written, writes many queued buffers at once, repairs
 * write wake-ups that the library loses, answers refused handshakes, and is where the end of a connection is noticed.
 *
 * <p>Threading: reads and writes on the selector thread; closed by any thread.
 */
final class EdgeChannel implements WrappedByteChannel {
    /** What a channel tells its connection. Called on the selector thread, the end by any thread; must not throw. */
    interface Listener {
        void bytesRead();

        /**
         * Bytes have reached the socket.
         *
         * @param drained true if they had waited for the peer to take others: a sign of its life
         */
        void bytesWritten(int bytes, boolean drained);

        /** The socket is closed; called once. */
        void ended();
    }

    private static final int MAX_BUFFERS = 64;
    /** The JDK copies as much as it is given into a direct buffer that it keeps. */
    private static final int MAX_WRITE_BYTES = 256 * 1024;
    /** Bytes after which other sockets have their turn. */
    private static final int MAX_BURST_BYTES = 1024 * 1024;
    /** The library never takes a key that is only writable out of the selected set, and always walks all of it. */
    private static final int MAX_STALE_KEYS = 8;

    private final SocketChannel socket;
    private final SelectionKey key;
    private final WebSocketImpl owner;
    private final EdgeDraft draft;
    private final Listener listener;
    private final AtomicBoolean ended = new AtomicBoolean();
    private final ByteBuffer[] batch = new ByteBuffer[MAX_BUFFERS];
    private boolean readSomething;
    private boolean full;
    private int burstBytes;
    private volatile boolean outputEnds;
    private volatile @Nullable ByteBuffer farewell;

    EdgeChannel(SocketChannel socket, SelectionKey key, WebSocketImpl owner, EdgeDraft draft, Listener listener) {
        this.socket = socket;
        this.key = key;
        this.owner = owner;
        this.draft = draft;
        this.listener = listener;
    }

    /** Once what is queued now has been written, the peer shall see the end of our bytes. */
    void endOutput() {
        outputEnds = true;
    }

    /** Of what is queued, only the buffer that is half out goes on; this frame follows it. It must be the last one. */
    void breakOff(ByteBuffer closeFrame) {
        farewell = closeFrame; // first: once it is queued, it must not leave behind what is to be passed over
        owner.outQueue.add(closeFrame);
        owner.getWebSocketListener().onWriteDemand(owner);
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        int start = target.position();
        int n = socket.read(target);
        readSomething = n > 0;
        if (n > 0) {
            listener.bytesRead();
            if (draft.refusal() != null) {
                target.position(start);
                return 0;
            }
        }
        return n;
    }

    /** After each read the library calls {@link #readMore}, outside its walk over the selected keys. */
    @Override
    public boolean isNeedRead() {
        return readSomething;
    }

    /**
     * Reads nothing. A frame queued while the library was ending a write may have had its write interest overwritten,
     * and would lie there until the next one: it is asked for again. The keys that the library forgot are swept on the
     * way.
     */
    @Override
    public int readMore(ByteBuffer target) {
        readSomething = false;
        wakeWrites(key);
        Set<SelectionKey> selected = key.selector().selectedKeys();
        if (selected.size() > MAX_STALE_KEYS) {
            selected.forEach(EdgeChannel::wakeWrites);
            selected.clear();
        }
        return 0;
    }

    private static void wakeWrites(SelectionKey key) {
        if (key.attachment() instanceof WebSocketImpl connection && !connection.outQueue.isEmpty()) {
            try {
                key.interestOps(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
            } catch (CancelledKeyException e) {
                // closed meanwhile: nothing will be written
            }
        }
    }

    /** Writes this buffer and as many of those queued behind it as go at once. */
    @Override
    public int write(ByteBuffer first) throws IOException {
        ByteBuffer last = farewell;
        if (last != null) {
            farewell = null;
            passOver(last);
        }
        if (!first.hasRemaining()) {
            return 0; // went with an earlier one
        }
        ByteBuffer refusal = draft.refusal();
        if (refusal != null) {
            return writeRefusal(refusal, first);
        }
        if (burstBytes >= MAX_BURST_BYTES) {
            burstBytes = 0;
            wakeWrites(key);
            return 0;
        }
        int written = writeBatch(first);
        burstBytes += written;
        if (first.hasRemaining()) {
            wakeWrites(key);
        } else if (outputEnds && owner.outQueue.stream().noneMatch(ByteBuffer::hasRemaining)) {
            socket.shutdownOutput();
        }
        return written;
    }

    /** All that had not begun to leave before this one counts as written. */
    @SuppressWarnings("ReferenceEquality") // equal bytes may be another's
    private void passOver(ByteBuffer last) {
        owner.outQueue.stream()
                .filter(queued -> queued != last && queued.position() == 0)
                .forEach(queued -> queued.position(queued.limit()));
    }

    private int writeBatch(ByteBuffer first) throws IOException {
        int count = 0;
        int room = MAX_WRITE_BYTES;
        for (ByteBuffer queued : owner.outQueue) {
            if (count == MAX_BUFFERS || queued.remaining() > room) {
                break;
            }
            if (queued.hasRemaining()) {
                batch[count++] = queued;
                room -= queued.remaining();
            }
        }
        int asked = count == 0 ? MAX_WRITE_BYTES : MAX_WRITE_BYTES - room;
        int written = count == 0 ? writePart(first) : (int) socket.write(batch, 0, count);
        Arrays.fill(batch, 0, count, null);
        if (written > 0) {
            listener.bytesWritten(written, full);
        }
        full = written < asked;
        return written;
    }

    private int writePart(ByteBuffer large) throws IOException {
        int limit = large.limit();
        large.limit(large.position() + MAX_WRITE_BYTES);
        try {
            return socket.write(large);
        } finally {
            large.limit(limit);
        }
    }

    private int writeRefusal(ByteBuffer refusal, ByteBuffer librarysAnswer) throws IOException {
        int written = socket.write(refusal);
        if (!refusal.hasRemaining()) {
            librarysAnswer.position(librarysAnswer.limit());
            socket.shutdownOutput();
        } else {
            wakeWrites(key);
        }
        return written;
    }

    @Override
    public boolean isNeedWrite() {
        return false;
    }

    @Override
    public void writeMore() {
        // nothing is kept here
    }

    @Override
    public boolean isBlocking() {
        return false;
    }

    @Override
    public boolean isOpen() {
        return socket.isOpen();
    }

    @Override
    public void close() throws IOException {
        try {
            socket.close();
        } finally {
            if (ended.compareAndSet(false, true)) {
                listener.ended();
            }
        }
    }
}
