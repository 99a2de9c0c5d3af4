package io.tabletrelay.core.pipe;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.delivery.DeadLetters;
import io.tabletrelay.core.delivery.DiskTasks;
import io.tabletrelay.core.delivery.Subscription;
import io.tabletrelay.core.metrics.PipeMetrics;
import io.tabletrelay.core.store.EventLog;
import io.tabletrelay.core.store.folder.PipeStore;
import java.util.function.Consumer;

/**
 * What a pipe works with while its store is open.
 *
 * <p>Threading: confined to the pipe's transfer thread; opened and closed by an I/O task.
 */
final class OpenPipe {
    private final PipeName name;
    private final PipeStore store;
    private final DeadLetters deadLetters;
    private final Appends appends;
    private final Subscription subscription;
    private final AttemptsFlush flush;

    OpenPipe(
            PipeName name,
            PipeStore store,
            DeadLetters deadLetters,
            PipeContext context,
            DiskTasks diskTasks,
            PipeMemory memory,
            PipeMetrics metrics,
            Consumer<Throwable> onFailure) {
        this.name = name;
        this.store = store;
        this.deadLetters = deadLetters;
        this.subscription = new Subscription(
                store.log(),
                store.settled(),
                store.attempts(),
                deadLetters,
                diskTasks,
                context.delivery(),
                memory.losses(),
                metrics);
        this.appends = new Appends(
                name,
                store.log(),
                diskTasks,
                store.config().maxEvents(),
                subscription::backlog,
                store.config().durability(),
                memory.passed(),
                metrics);
        this.flush = new AttemptsFlush(
                name, store.attempts(), diskTasks, context.delivery().nanoTime(), onFailure);
    }

    /** One turn; sends up to about that many payload bytes. Returns how much was done. */
    int turn(int deliveryBytes) {
        int work = appends.turn();
        work += subscription.deliver(deliveryBytes);
        work += subscription.upkeep() ? 1 : 0;
        flush.turn();
        return work;
    }

    /** True: its files may be closed, and nobody will notice. */
    boolean isIdle() {
        return appends.isIdle() && subscription.isIdle() && flush.isIdle();
    }

    /** When the next turn is wanted though no command comes, or {@code otherwise}; until then the files stay open. */
    long nextDeadlineNanos(long otherwise) {
        long deadline = subscription.nextDeadlineNanos(otherwise);
        long retry = flush.retryNanos(otherwise);
        return deadline - retry < 0 ? deadline : retry;
    }

    /** Closes files that nobody will notice. I/O thread. */
    void closeIdle() {
        subscription.close();
        store.closeInOrder();
    }

    /** Closes the files, also after a failure. I/O thread. */
    void close() {
        subscription.close();
        store.close();
    }

    PipeStore store() {
        return store;
    }

    DeadLetters deadLetters() {
        return deadLetters;
    }

    Appends appends() {
        return appends;
    }

    Subscription subscription() {
        return subscription;
    }

    void append(WaitingAppend publish, Consumer<RelayException> refuse) {
        if (store.settings().preparesEventsAs(publish.madeFor())) {
            appends.add(publish);
        } else {
            refuse.accept(new RelayException(
                    ErrorCode.BUSY,
                    "pipe was made while an event was prepared for another one: pipe=" + name + ", settings="
                            + store.settings().values() + ", prepared for="
                            + publish.madeFor().values() + "; publish it again"));
        }
    }

    PipeStatus status(boolean hasConsumer) {
        EventLog log = store.log();
        return new PipeStatus(
                name.value(),
                store.epoch(),
                TransferLoop.State.OPEN.name(),
                subscription.trouble(),
                store.config().durability(),
                log.firstId(),
                log.lastId(),
                log.voidIds(),
                subscription.floor(),
                log.lastId() - log.voidIds() - subscription.backlog(),
                subscription.deliveredUpTo(),
                subscription.inFlight(),
                subscription.waiting(),
                deadLetters.count(),
                store.diskBytes(),
                hasConsumer,
                store.settings().values());
    }

    LoopedPipe.Snapshot snapshot() {
        return new LoopedPipe.Snapshot(
                true,
                subscription.backlog(),
                subscription.inFlight(),
                subscription.waiting(),
                subscription.floor(),
                store.log().lastId());
    }
}
