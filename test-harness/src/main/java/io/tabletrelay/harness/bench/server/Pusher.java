package io.tabletrelay.harness.bench.server;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jctools.queues.MpscUnboundedArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * What a server without a store has in place of a pipe: a thread that makes events, or takes them from a queue, and sends
 * them while the window lasts. Its turns are as long as a pipe's.
 *
 * <p>Threading: {@link #attach}, {@link #push}, {@link #offer}, {@link #acked} and {@link #wake} are thread-safe; sending is
 * confined to the thread made here and ended by {@link #stop}.
 */
final class Pusher {
    /** Where events go; called by the pusher's thread. */
    interface Outlet {
        /** Once, before the first event. */
        void bound();

        /** False while nothing may be added; {@link Pusher#wake} is called when that changes. */
        default boolean writable() {
            return true;
        }

        void send(long id, ByteBuffer payload);

        /** The turn is over. */
        default void flush() {}
    }

    private static final int TURN_BYTES = 256 << 10;

    private final int windowEvents;
    private final ByteBuffer template;
    private final MpscUnboundedArrayQueue<ByteBuffer> offered = new MpscUnboundedArrayQueue<>(1024);
    private final AtomicLong requested = new AtomicLong();
    private final AtomicLong acked = new AtomicLong();
    private final Thread thread;
    private volatile @Nullable Outlet outlet;
    private volatile boolean parked;
    private volatile boolean stopped;
    private long made;
    private long sent;

    Pusher(int windowEvents, int eventBytes) {
        this.windowEvents = windowEvents;
        this.template = ByteBuffer.allocate(eventBytes).asReadOnlyBuffer();
        this.thread = new Thread(this::run, "bench-pusher");
        thread.setDaemon(true);
        thread.start();
    }

    void attach(Outlet consumer) {
        outlet = consumer;
        wake();
    }

    /** That many events more, all alike. */
    void push(long events) {
        requested.addAndGet(events);
        wake();
    }

    void offer(ByteBuffer payload) {
        offered.offer(payload);
        wake();
    }

    void acked() {
        acked.incrementAndGet();
        wake();
    }

    long settled() {
        return acked.get();
    }

    void wake() {
        if (parked) {
            LockSupport.unpark(thread);
        }
    }

    private void run() {
        @Nullable Outlet known = null;
        while (!stopped) {
            Outlet current = outlet;
            if (current != null && current != known) {
                current.bound();
                known = current;
            }
            if (current == null || !turn(current)) {
                park(known);
            }
        }
    }

    private boolean turn(Outlet current) {
        int bytes = 0;
        while (bytes < TURN_BYTES && sent - acked.get() < windowEvents && current.writable()) {
            ByteBuffer payload = next();
            if (payload == null) {
                break;
            }
            bytes += payload.remaining();
            current.send(++sent, payload);
        }
        if (bytes > 0) {
            current.flush();
        }
        return bytes > 0;
    }

    private @Nullable ByteBuffer next() {
        if (made < requested.get()) {
            made++;
            return template;
        }
        return offered.poll();
    }

    private void park(@Nullable Outlet known) {
        parked = true;
        Outlet current = outlet;
        boolean mayGoOn = current != null
                && (current != known
                        || (sent - acked.get() < windowEvents
                                && (made < requested.get() || !offered.isEmpty())
                                && current.writable()));
        if (!mayGoOn && !stopped) {
            LockSupport.park(this);
        }
        parked = false;
    }

    void stop() throws InterruptedException {
        stopped = true;
        LockSupport.unpark(thread);
        thread.join();
    }
}
