package io.tabletrelay.core.server;

import io.tabletrelay.core.protocol.BatchFrame;
import io.tabletrelay.core.protocol.FrameCodec;
import java.nio.ByteBuffer;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * What one connection still has to write, in the order it was given. Events of one turn are gathered into buffers of at
 * most 64 KiB; an event larger than that gets one of its own. In dialect 2 they are gathered into frames. The library's queue behind it knows no limit, so the
 * limit is counted here.
 *
 * <p>Threading: thread-safe by its own lock; {@link #written} is called by one thread at a time.
 */
final class SendBuffer {
    private static final int FIRST_GATHER_BYTES = 1024;
    private static final int MAX_GATHER_BYTES = 64 * 1024;

    private static final int MAX_UNREAD_ANSWER_BYTES = 1 << 20;
    private static final int ANSWER_OVERHEAD_BYTES = 64;

    private final Queue<ByteBuffer> queue;
    private final Runnable writeDemand;
    private final int maxUnsentBytes;
    private final BatchFrame batch = new BatchFrame();
    private @Nullable ByteBuffer gathering;
    private int gatherBytes = FIRST_GATHER_BYTES;
    private boolean ended;
    /** Answers given since there was last room. */
    private long unreadAnswerBytes;

    private volatile long givenBytes;
    private final AtomicLong writtenBytes = new AtomicLong();
    private volatile boolean overLimit;

    /**
     * @param queue what the socket writes from
     * @param writeDemand tells the socket that there is something in the queue
     */
    SendBuffer(Queue<ByteBuffer> queue, Runnable writeDemand, int maxUnsentBytes) {
        this.queue = queue;
        this.writeDemand = writeDemand;
        this.maxUnsentBytes = maxUnsentBytes;
    }

    /** Bytes that went, or go, around this buffer, before everything in it. */
    synchronized void givenBefore(int bytes) {
        givenBytes += bytes;
    }

    /**
     * Copies the event; it leaves at the next {@link #flush}, {@link #control} or when enough has been gathered.
     *
     * @return bytes given up to its end
     */
    synchronized long event(long id, ByteBuffer payload) {
        if (ended) {
            return givenBytes;
        }
        int frameBytes = FrameCodec.eventFrameBytes(payload.remaining());
        ByteBuffer target = gathering;
        if (target != null && target.remaining() < frameBytes) {
            gatherBytes = Math.min(MAX_GATHER_BYTES, 4 * gatherBytes);
            leave();
            target = null;
        }
        if (target == null) {
            target = ByteBuffer.allocate(Math.max(gatherBytes, frameBytes));
            gathering = target;
        }
        FrameCodec.putEvent(target, id, payload);
        givenBytes += frameBytes;
        return givenBytes;
    }

    /**
     * Copies the event into a frame with others, of which there are at most so many; it leaves as {@link #event} says.
     *
     * @param headers what {@link BatchFrame#headers} made of them
     * @return bytes given up to its end
     */
    synchronized long record(
            long id, long appendedAtMillis, int delivery, byte[] headers, ByteBuffer payload, int mostRecords) {
        if (ended) {
            return givenBytes;
        }
        if (!batch.takes(headers, payload.remaining(), mostRecords)) {
            leave();
        }
        int before = batch.frameBytes();
        batch.put(id, appendedAtMillis, delivery, headers, payload);
        givenBytes += batch.frameBytes() - before;
        return givenBytes;
    }

    /** What was gathered leaves now. */
    synchronized void flush() {
        gatherBytes = FIRST_GATHER_BYTES;
        leave();
    }

    /** A whole frame leaves, behind everything given before; false if nothing may leave any more. */
    synchronized boolean control(ByteBuffer frame) {
        if (ended) {
            return false;
        }
        leave();
        givenBytes += frame.remaining();
        enqueue(frame);
        return true;
    }

    /** As {@link #control}, for what a client makes us say; false: it takes too little of it, and this was dropped. */
    synchronized boolean answer(ByteBuffer frame) {
        unreadAnswerBytes =
                unsentBytes() < maxUnsentBytes ? 0 : unreadAnswerBytes + frame.remaining() + ANSWER_OVERHEAD_BYTES;
        if (unreadAnswerBytes > MAX_UNREAD_ANSWER_BYTES) {
            return false;
        }
        control(frame);
        return true;
    }

    /** The last frame leaves; what is given later is dropped. False if there was a last one already. */
    synchronized boolean end(ByteBuffer closeFrame) {
        boolean first = control(closeFrame);
        ended = true;
        return first;
    }

    /** The socket is gone: nothing is kept. */
    synchronized void drop() {
        ended = true;
        gathering = null;
        if (!batch.isEmpty()) {
            batch.take();
        }
    }

    private void leave() {
        ByteBuffer full = gathering;
        if (full != null) {
            gathering = null;
            enqueue(full.flip());
        }
        if (!batch.isEmpty()) {
            enqueue(batch.take());
        }
    }

    private void enqueue(ByteBuffer frames) {
        queue.add(frames);
        writeDemand.run();
    }

    /** False while too much is unsent; {@link #written} will say when that has changed. */
    boolean writable() {
        if (unsentBytes() < maxUnsentBytes) {
            return true;
        }
        overLimit = true;
        return unsentBytes() < maxUnsentBytes; // again: it may all have been written before the flag was seen
    }

    /** Bytes have reached the socket; true if the limit was reached before and there is room again. */
    boolean written(int bytes) {
        writtenBytes.addAndGet(bytes);
        if (overLimit && unsentBytes() <= maxUnsentBytes / 2) {
            overLimit = false;
            return true;
        }
        return false;
    }

    long unsentBytes() {
        return givenBytes - writtenBytes.get();
    }

    long writtenBytes() {
        return writtenBytes.get();
    }
}
