package io.tabletrelay.core.delivery;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Who holds the subscription, and who stands in line for it.
 *
 * <p>The first in line makes the holder prove that it lives: a probe is answered by its own pong, or by any frame read more
 * than a second later. A holder that answers keeps the pipe and the first in line is refused; one that does not is taken over.
 * One probe at a time. If the holder leaves meanwhile, the first in line is bound at once.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 */
public final class ConsumerLine {
    private static final long FRAME_COUNTS_AFTER_NANOS = 1_000_000_000L;

    /** What the line tells its owner. */
    public interface Listener {
        /** The holder has the subscription now, and was told so. */
        void taken(Consumer holder);

        /** The holder has it no more. {@code lost}: its connection went away by itself. */
        void left(Consumer holder, boolean lost);
    }

    private final long probeNanos;
    private final Listener listener;
    private final ArrayDeque<Consumer> waiting = new ArrayDeque<>();
    private @Nullable Consumer holder;
    private long probeStartedNanos;

    public ConsumerLine(long probeNanos, Listener listener) {
        this.probeNanos = probeNanos;
        this.listener = listener;
    }

    public @Nullable Consumer holder() {
        return holder;
    }

    /** A connection asks for the subscription. */
    public void join(Consumer newcomer, long nowNanos) {
        waiting.add(newcomer);
        advance(nowNanos);
    }

    /** A connection is gone; repeats are ignored. */
    public void gone(Consumer consumer, long nowNanos) {
        if (consumer == holder) {
            drop(consumer, true);
            advance(nowNanos);
        } else {
            waiting.remove(consumer);
            if (waiting.isEmpty() && holder != null) {
                holder.probed(false);
            }
        }
    }

    /** A frame was read from the connection; {@code probePong} if it is the answer to its probe. */
    public void life(Consumer consumer, boolean probePong, long nowNanos) {
        boolean counts = probePong || nowNanos - probeStartedNanos > FRAME_COUNTS_AFTER_NANOS;
        if (consumer == holder && consumer.probed() && counts) {
            consumer.probed(false);
            Consumer first = waiting.poll();
            if (first != null) {
                first.sink().refused(new RelayException(ErrorCode.PIPE_BUSY, "Too many connections."));
            }
            advance(nowNanos);
        }
    }

    /** Takes over from a holder whose probe has run out. Returns true if it did. */
    public boolean expireProbe(long nowNanos) {
        Consumer old = holder;
        if (old == null || !old.probed() || nowNanos - probeStartedNanos < probeNanos) {
            return false;
        }
        old.sink().takenOver();
        drop(old, false);
        advance(nowNanos);
        return true;
    }

    /** When to call {@link #expireProbe}, or {@code otherwise} when no probe is out. */
    public long probeDeadlineNanos(long otherwise) {
        return holder != null && holder.probed() ? probeStartedNanos + probeNanos : otherwise;
    }

    /** There is nothing to hold any more: the holder and all in line are refused. */
    public void refuseAll(RelayException why) {
        Consumer last = holder;
        if (last != null) {
            drop(last, false);
            last.sink().refused(why);
        }
        for (Consumer next = waiting.poll(); next != null; next = waiting.poll()) {
            next.sink().refused(why);
        }
    }

    private void advance(long nowNanos) {
        if (holder == null) {
            Consumer next = waiting.poll();
            if (next == null) {
                return;
            }
            holder = next;
            next.bound();
            next.sink().bound(null);
            listener.taken(next);
        }
        if (holder != null && !waiting.isEmpty() && !holder.probed()) {
            probeStartedNanos = nowNanos;
            holder.probed(true);
            holder.sink().probe();
        }
    }

    private void drop(Consumer consumer, boolean lost) {
        holder = null;
        consumer.probed(false);
        listener.left(consumer, lost);
    }
}
