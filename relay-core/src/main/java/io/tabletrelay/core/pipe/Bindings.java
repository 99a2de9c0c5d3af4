package io.tabletrelay.core.pipe;

import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.delivery.BindOptions.Dialect;
import io.tabletrelay.core.delivery.Bound;
import io.tabletrelay.core.delivery.Consumer;
import io.tabletrelay.core.delivery.ConsumerLine;
import io.tabletrelay.core.delivery.Subscription;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Who is bound to a pipe, and to which of its subscriptions. Connections stay bound while the pipe's files are not open; they
 * are served again when they are.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 */
final class Bindings implements ConsumerLine.Listener {
    private final PipeName pipe;
    private final long probeNanos;
    private final LongSupplier nanoTime;
    private final PipeMemory memory;
    /** By the names of subscriptions. */
    private final Map<String, ConsumerLine> lines = new LinkedHashMap<>();

    private @Nullable OpenPipe open;
    private boolean stopping;

    Bindings(PipeName pipe, long probeNanos, LongSupplier nanoTime, PipeMemory memory) {
        this.pipe = pipe;
        this.probeNanos = probeNanos;
        this.nanoTime = nanoTime;
        this.memory = memory;
    }

    /** The pipe's files are open: who is bound is served. */
    void opened(OpenPipe opened) {
        open = opened;
        for (ConsumerLine line : lines.values()) {
            line.holders().forEach(this::serve);
        }
    }

    /** The pipe's files are not open any more: nobody is served. */
    void closed() {
        open = null;
    }

    /** Who leaves from now on does not count as lost. */
    void stopping() {
        stopping = true;
    }

    /** True: somebody is bound. */
    boolean any() {
        for (ConsumerLine line : lines.values()) {
            if (!line.holders().isEmpty()) {
                return true;
            }
        }
        return false;
    }

    /** True: there was somebody bound to that subscription, so that there is one. */
    boolean knows(String subscription) {
        return lines.containsKey(subscription);
    }

    /** True: somebody waits to be served, and to be told so. */
    boolean wantsOpen() {
        if (open != null) {
            return false;
        }
        for (ConsumerLine line : lines.values()) {
            for (Consumer holder : line.holders()) {
                if (!holder.told()) {
                    return true;
                }
            }
        }
        return false;
    }

    void join(Consumer consumer) {
        String name = consumer.options().subscription();
        lines.computeIfAbsent(
                        name, absent -> new ConsumerLine("pipe=" + pipe + ", subscription=" + absent, probeNanos, this))
                .join(consumer, nanoTime.getAsLong());
    }

    void gone(Consumer consumer) {
        leave(consumer, true);
    }

    /** It gives back what it has, and is told when that is done. */
    void unbind(Consumer consumer) {
        leave(consumer, false);
        consumer.sink().unbound();
    }

    private void leave(Consumer consumer, boolean lost) {
        ConsumerLine line = lines.get(consumer.options().subscription());
        if (line != null) {
            line.gone(consumer, lost, nanoTime.getAsLong());
        }
    }

    void life(Consumer consumer, boolean probePong) {
        ConsumerLine line = lines.get(consumer.options().subscription());
        if (line != null) {
            line.life(consumer, probePong, nanoTime.getAsLong());
        }
    }

    /** Takes over from holders whose probes have run out. Returns true if there was one. */
    boolean expireProbes() {
        boolean any = false;
        for (ConsumerLine line : lines.values()) {
            any |= line.expireProbe(nanoTime.getAsLong());
        }
        return any;
    }

    /** When to call {@link #expireProbes}, or {@code otherwise}. */
    long probeDeadlineNanos(long otherwise) {
        long deadline = otherwise;
        for (ConsumerLine line : lines.values()) {
            long of = line.probeDeadlineNanos(otherwise);
            deadline = of - deadline < 0 ? of : deadline;
        }
        return deadline;
    }

    /** Those for whom this is true are refused, bound or not. */
    void refuse(Predicate<Consumer> whom, RelayException why) {
        lines.values().forEach(line -> line.refuse(whom, why));
    }

    @Override
    public void taken(Consumer holder) {
        if (holder.options().dialect() == Dialect.ONE) {
            holder.tell(null);
        }
        serve(holder);
    }

    @Override
    public void left(Consumer holder, boolean lost) {
        OpenPipe current = open;
        Subscription subscription =
                current == null ? null : current.subscription(holder.options().subscription());
        if (subscription != null) {
            subscription.detach(holder, lost && !stopping);
        }
    }

    /** The subscription is made first if there is none. */
    private void serve(Consumer holder) {
        OpenPipe current = open;
        if (current != null) {
            current.createSubscription(
                    holder.options().subscription(),
                    holder.options().start(),
                    subscription -> serve(current, holder, subscription),
                    why -> {
                        if (open == current && !stopping) {
                            refuse(each -> each == holder, why);
                        }
                    });
        }
    }

    private void serve(OpenPipe servedBy, Consumer holder, Subscription subscription) {
        ConsumerLine line = lines.get(holder.options().subscription());
        if (open != servedBy || line == null || !line.holders().contains(holder)) {
            return;
        }
        holder.beginning(memory.beginningOf(holder.options().subscription()));
        subscription.attach(holder);
        if (!holder.told()) {
            long nextId = subscription.nextId();
            holder.tell(new Bound(
                    pipe.value(),
                    holder.options().subscription(),
                    servedBy.store().epoch(),
                    nextId,
                    subscription.backlog(),
                    subscription.contentTypeOf(nextId),
                    holder.window(),
                    holder.options().strict(),
                    servedBy.store().config().durability()));
        }
    }
}
