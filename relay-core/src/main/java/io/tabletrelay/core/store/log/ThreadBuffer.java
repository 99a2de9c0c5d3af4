package io.tabletrelay.core.store.log;

import java.nio.ByteBuffer;
import net.openhft.chronicle.bytes.Bytes;
import org.jspecify.annotations.Nullable;

/**
 * A thread's one buffer for large records, lent to the reader or the log that is at work there: memory grows with the threads
 * and the largest event, not with the pipes.
 *
 * <p>Threading: each thread has its own.
 */
final class ThreadBuffer {
    /** What each reader and each log has for itself; larger records go into the thread's buffer. */
    static final int OWN_BYTES = 4 << 10;

    private static final int FIRST_BYTES = 64 << 10;
    private static final ThreadLocal<ThreadBuffer> OF_THREAD = ThreadLocal.withInitial(ThreadBuffer::new);

    private ByteBuffer bytes = ByteBuffer.allocate(0);
    private ByteBuffer readOnly = bytes.asReadOnlyBuffer();
    private @Nullable Bytes<ByteBuffer> chronicleBytes;

    private ThreadBuffer() {}

    /** Lends the buffer until somebody else takes it. Throws OutOfMemoryError if there is no memory for that many bytes. */
    static ThreadBuffer take(int size, int maxBytes) {
        ThreadBuffer buffer = OF_THREAD.get();
        buffer.grow(size, maxBytes);
        return buffer;
    }

    /** Makes sure that {@link #take} will get that many bytes on this thread; throws OutOfMemoryError if it would not. */
    static void ensure(int size, int maxBytes) {
        OF_THREAD.get().grow(size, maxBytes);
    }

    ByteBuffer bytes() {
        return bytes;
    }

    ByteBuffer readOnly() {
        return readOnly;
    }

    /** The same memory, for Chronicle. */
    Bytes<ByteBuffer> chronicleBytes() {
        Bytes<ByteBuffer> wrapped = chronicleBytes;
        if (wrapped == null) {
            throw new IllegalStateException("nothing was taken");
        }
        return wrapped;
    }

    /** The smaller buffer is left to the garbage collector: a reader may look at it still. */
    private void grow(int size, int maxBytes) {
        if (size <= bytes.capacity()) {
            return;
        }
        int doubled = Math.max(FIRST_BYTES, Integer.highestOneBit(Math.max(1, size - 1)) << 1);
        ByteBuffer larger = ByteBuffer.allocateDirect(Math.max(size, Math.min(maxBytes, doubled)));
        chronicleBytes = wrap(larger);
        readOnly = larger.asReadOnlyBuffer();
        bytes = larger;
    }

    /** Buffers go from thread to thread with their log, one after the other; Chronicle would refuse where Java's assertions are on. */
    static Bytes<ByteBuffer> wrap(ByteBuffer buffer) {
        Bytes<ByteBuffer> bytes = Bytes.wrapForRead(buffer);
        bytes.singleThreadedCheckDisabled(true);
        return bytes;
    }
}
