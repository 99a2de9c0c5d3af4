package io.tabletrelay.core.delivery;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.delivery.BindOptions.Mode;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Who holds a subscription, and who stands in line for it.
 *
 * <p>The first in line makes the holder prove that it lives: a probe is answered by its own pong, or by any frame read more
 * than a second later. A holder that answers keeps the subscription and the first in line is refused; one that does not is taken
 * over. One probe at a time. If the holder leaves meanwhile, the first in line is bound at once.
 *
 * <p>Who comes to take over does not ask. Who stands by asks nobody either and waits, behind all others, until there is no holder.
 * Those who share hold it together; they do not let in who would have it alone.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 */
public final class ConsumerLine {
    private static final long FRAME_COUNTS_AFTER_NANOS = 1_000_000_000L;

    /** What the line tells its owner. */
    public interface Listener {
        /** The connection holds the subscription now; it is to be told so, before any event. */
        void taken(Consumer holder);

        /** The connection holds it no more. {@code lost}: it went away by itself. */
        void left(Consumer holder, boolean lost);
    }

    private final String subscription;
    private final long probeNanos;
    private final Listener listener;
    private final List<Consumer> holders = new ArrayList<>();
    private final ArrayDeque<Consumer> asking = new ArrayDeque<>();
    private final ArrayDeque<Consumer> standingBy = new ArrayDeque<>();
    private long probeStartedNanos;

    /** @param subscription its name, and its pipe's, for messages */
    public ConsumerLine(String subscription, long probeNanos, Listener listener) {
        this.subscription = subscription;
        this.probeNanos = probeNanos;
        this.listener = listener;
    }

    /** Those who hold it; several only if they share. Not to be kept. */
    public List<Consumer> holders() {
        return holders;
    }

    /** True: nobody holds it or waits for it. */
    public boolean isEmpty() {
        return holders.isEmpty() && asking.isEmpty() && standingBy.isEmpty();
    }

    /** A connection asks for the subscription. */
    public void join(Consumer newcomer, long nowNanos) {
        switch (newcomer.options().mode()) {
            case TAKEOVER -> {
                for (Consumer holder : List.copyOf(holders)) {
                    holder.sink().takenOver();
                    drop(holder, false);
                }
                take(newcomer);
            }
            case STANDBY -> standingBy.add(newcomer);
            case SHARED, EXCLUSIVE -> asking.add(newcomer);
        }
        advance(nowNanos);
    }

    /** A connection is gone, or wants it no more ({@code lost} is false then); repeats are ignored. */
    public void gone(Consumer consumer, boolean lost, long nowNanos) {
        if (holders.contains(consumer)) {
            drop(consumer, lost);
            advance(nowNanos);
        } else if (asking.remove(consumer) || standingBy.remove(consumer)) {
            if (asking.isEmpty()) {
                holders.forEach(holder -> holder.probed(false));
            }
        }
    }

    /** A frame was read from the connection; {@code probePong} if it is the answer to its probe. */
    public void life(Consumer consumer, boolean probePong, long nowNanos) {
        boolean counts = probePong || nowNanos - probeStartedNanos > FRAME_COUNTS_AFTER_NANOS;
        if (consumer.probed() && counts && holders.contains(consumer)) {
            consumer.probed(false);
            Consumer first = asking.poll();
            if (first != null) {
                first.sink().refused(busy());
            }
            advance(nowNanos);
        }
    }

    /** Takes over from a holder whose probe has run out. Returns true if it did. */
    public boolean expireProbe(long nowNanos) {
        Consumer old = probed();
        if (old == null || nowNanos - probeStartedNanos < probeNanos) {
            return false;
        }
        old.sink().takenOver();
        drop(old, false);
        advance(nowNanos);
        return true;
    }

    /** When to call {@link #expireProbe}, or {@code otherwise} when no probe is out. */
    public long probeDeadlineNanos(long otherwise) {
        return probed() == null ? otherwise : probeStartedNanos + probeNanos;
    }

    /** Those for whom this is true, holders or in line, are refused and have nothing to do with it any more. */
    public void refuse(Predicate<Consumer> whom, RelayException why) {
        for (Consumer each : List.copyOf(holders)) {
            if (whom.test(each)) {
                drop(each, false);
                each.sink().refused(why);
            }
        }
        for (ArrayDeque<Consumer> line : List.of(asking, standingBy)) {
            for (Consumer each : List.copyOf(line)) {
                if (whom.test(each)) {
                    line.remove(each);
                    each.sink().refused(why);
                }
            }
        }
    }

    private @Nullable Consumer probed() {
        return holders.size() == 1 && holders.get(0).probed() ? holders.get(0) : null;
    }

    private void advance(long nowNanos) {
        while (!asking.isEmpty()) {
            Consumer first = asking.element();
            if (holders.isEmpty() || mayShare(first)) {
                take(asking.remove());
            } else if (holders.size() > 1) { // at least one of them lives, or the heartbeat will tell
                asking.remove().sink().refused(busy());
            } else {
                probe(holders.get(0), nowNanos);
                return;
            }
        }
        if (holders.isEmpty() && !standingBy.isEmpty()) {
            take(standingBy.remove());
        }
    }

    private boolean mayShare(Consumer newcomer) {
        return newcomer.options().mode() == Mode.SHARED
                && holders.get(0).options().mode() == Mode.SHARED;
    }

    private void probe(Consumer holder, long nowNanos) {
        if (!holder.probed()) {
            probeStartedNanos = nowNanos;
            holder.probed(true);
            holder.sink().probe();
        }
    }

    private void take(Consumer newcomer) {
        holders.add(newcomer);
        newcomer.bound();
        listener.taken(newcomer);
    }

    private void drop(Consumer consumer, boolean lost) {
        holders.remove(consumer);
        consumer.probed(false);
        listener.left(consumer, lost);
    }

    private RelayException busy() {
        return new RelayException(
                ErrorCode.PIPE_BUSY,
                "subscription has a live consumer: " + subscription
                        + "; stop that one, bind with mode=standby or mode=takeover, or use a subscription of your own");
    }
}
