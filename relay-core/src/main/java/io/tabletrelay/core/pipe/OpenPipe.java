package io.tabletrelay.core.pipe;

import io.tabletrelay.api.PipeName;
import io.tabletrelay.core.delivery.DeadLetters;
import io.tabletrelay.core.delivery.DiskTasks;
import io.tabletrelay.core.delivery.Subscription;
import io.tabletrelay.core.metrics.PipeMetrics;
import io.tabletrelay.core.store.EventLog;
import io.tabletrelay.core.store.folder.PipeStore;

/**
 * What a pipe works with while its store is open.
 *
 * <p>Threading: confined to the pipe's transfer thread; opened and closed by an I/O task.
 */
final class OpenPipe {
    private final PipeStore store;
    private final DeadLetters deadLetters;
    private final Appends appends;
    private final Subscription subscription;

    OpenPipe(
            PipeName name,
            PipeStore store,
            DeadLetters deadLetters,
            PipeContext context,
            DiskTasks diskTasks,
            PipeMetrics metrics) {
        this.store = store;
        this.deadLetters = deadLetters;
        this.subscription = new Subscription(
                store.log(), store.settled(), store.attempts(), deadLetters, diskTasks, context.delivery(), metrics);
        this.appends = new Appends(
                name,
                store.log(),
                diskTasks,
                context.store().maxEvents(),
                subscription::backlog,
                store.durability(),
                metrics);
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

    PipeStatus status(PipeName name, boolean hasConsumer) {
        EventLog log = store.log();
        return new PipeStatus(
                name.value(),
                store.epoch(),
                TransferLoop.State.OPEN.name(),
                subscription.trouble(),
                store.durability(),
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
                hasConsumer);
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
