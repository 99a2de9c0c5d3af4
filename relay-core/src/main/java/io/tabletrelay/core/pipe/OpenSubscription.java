package io.tabletrelay.core.pipe;

import io.tabletrelay.api.PipeName;
import io.tabletrelay.core.delivery.DeadLetters;
import io.tabletrelay.core.delivery.DeliveryContext;
import io.tabletrelay.core.delivery.DiskTasks;
import io.tabletrelay.core.delivery.Subscription;
import io.tabletrelay.core.metrics.PipeMetrics;
import io.tabletrelay.core.store.EventLog;
import io.tabletrelay.core.store.folder.SubscriptionFiles;
import java.util.function.Consumer;

/**
 * A subscription while its pipe's store is open: who is served, and what brings its acks and attempts to disk.
 *
 * <p>Threading: confined to the pipe's transfer thread; closed by an I/O task.
 */
final class OpenSubscription {
    private final SubscriptionFiles files;
    private final EventLog log;
    private final ShownSubscription shown;
    private final TrackedDiskTasks tasks;
    private final Subscription subscription;
    private final AckCommit acks;
    private final AttemptsFlush flush;

    OpenSubscription(
            PipeName pipe,
            SubscriptionFiles files,
            ShownSubscription shown,
            EventLog log,
            DeadLetters deadLetters,
            DiskTasks diskTasks,
            DeliveryContext context,
            PipeMemory memory,
            PipeMetrics metrics,
            Consumer<Throwable> onFailure) {
        this.files = files;
        this.log = log;
        this.shown = shown;
        this.tasks = new TrackedDiskTasks(diskTasks);
        this.subscription = new Subscription(
                log,
                files.settled(),
                files.attempts(),
                deadLetters.of(files.name()),
                tasks,
                context,
                memory.lossesOf(files.name()),
                metrics);
        this.acks = new AckCommit(pipe, files.settled(), subscription, tasks, context.nanoTime());
        this.flush = new AttemptsFlush(pipe, files.attempts(), tasks, context.nanoTime(), onFailure);
    }

    String name() {
        return files.name();
    }

    SubscriptionFiles files() {
        return files;
    }

    Subscription subscription() {
        return subscription;
    }

    AckCommit acks() {
        return acks;
    }

    AttemptsFlush flush() {
        return flush;
    }

    /** True: none of its disk tasks is under way. */
    boolean isQuiet() {
        return tasks.isIdle();
    }

    /** True: its files may be closed, and nobody will notice. */
    boolean isIdle() {
        boolean settledIsDurable =
                !files.settled().wantsForce() && acks.trouble().isEmpty();
        return settledIsDurable && subscription.isIdle() && flush.isIdle();
    }

    String trouble() {
        String ofSubscription = subscription.trouble();
        return !ofSubscription.isEmpty() ? ofSubscription : acks.trouble();
    }

    /** The id up to which this many events are that are not settled. */
    long endOfOldest(long events) {
        long id = files.settled().floor();
        long left = events;
        while (left > 0 && id < log.lastId()) {
            id = log.skipVoid(id + 1);
            left -= files.settled().isSettled(id) ? 0 : 1;
        }
        return Math.min(id, log.lastId());
    }

    /** Has the gauges show how it is now. */
    void show() {
        shown.show(subscription);
    }

    SubscriptionStatus status() {
        long backlog = subscription.backlog();
        return new SubscriptionStatus(
                files.name(),
                files.start(),
                files.createdMillis(),
                subscription.floor(),
                subscription.deliveredUpTo(),
                log.lastId() - log.voidIds() - backlog,
                backlog,
                subscription.inFlight(),
                subscription.waiting(),
                subscription.consumers());
    }
}
