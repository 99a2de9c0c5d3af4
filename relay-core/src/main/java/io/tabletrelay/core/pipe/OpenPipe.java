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
import java.util.stream.Stream;

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
    private final AckCommit acks;

    OpenPipe(
            PipeName name,
            PipeStore store,
            DeadLetters deadLetters,
            PipeContext context,
            DiskTasks diskTasks,
            PipeMetrics metrics) {
        this.name = name;
        this.store = store;
        this.deadLetters = deadLetters;
        this.subscription = new Subscription(
                store.log(), store.settled(), store.attempts(), deadLetters, diskTasks, context.delivery(), metrics);
        this.appends = new Appends(
                name,
                store.log(),
                diskTasks,
                store.config(),
                subscription::backlog,
                context.delivery().nanoTime(),
                metrics);
        this.acks = new AckCommit(
                name, store.settled(), diskTasks, context.delivery().nanoTime());
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

    /** Begins what is to be forced to disk now. */
    void commit(boolean hasConsumer) {
        appends.commit().turn(hasConsumer || appends.confirming());
        acks.turn();
    }

    /** When the next turn is wanted though no command comes, or {@code otherwise}. */
    long nextDeadlineNanos(long otherwise) {
        long commit = appends.commit().nextDeadlineNanos(acks.nextDeadlineNanos(otherwise));
        long ack = acks.nextDeadlineNanos(otherwise);
        long forces = ack - commit < 0 ? ack : commit;
        long delivery = subscription.nextDeadlineNanos(otherwise);
        return delivery - forces < 0 ? delivery : forces;
    }

    private String trouble() {
        return Stream.of(appends.commit().trouble(), subscription.trouble(), acks.trouble())
                .filter(trouble -> !trouble.isEmpty())
                .findFirst()
                .orElse("");
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
                trouble(),
                store.config().durability(),
                log.firstId(),
                log.lastId(),
                log.voidIds(),
                subscription.floor(),
                store.settled().durableFloor(),
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
                subscription.backlog(),
                subscription.inFlight(),
                subscription.waiting(),
                subscription.floor(),
                store.log().lastId());
    }
}
