package io.tabletrelay.core.pipe;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.delivery.DeadLetters;
import io.tabletrelay.core.delivery.DiskTasks;
import io.tabletrelay.core.delivery.DroppingOldest;
import io.tabletrelay.core.delivery.Retention;
import io.tabletrelay.core.delivery.Subscription;
import io.tabletrelay.core.metrics.PipeMetrics;
import io.tabletrelay.core.store.EventLog;
import io.tabletrelay.core.store.folder.PipeStore;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
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
    private final Retention retention;
    private final PipeMetrics metrics;
    /** What an earlier run left: nothing is delivered before all of it is durable. */
    private final long foundUpToId;

    OpenPipe(
            PipeName name,
            PipeStore store,
            DeadLetters deadLetters,
            PipeContext context,
            DiskTasks diskTasks,
            PipeMetrics metrics) {
        this.name = name;
        this.store = store;
        this.foundUpToId = store.log().lastId();
        this.deadLetters = deadLetters;
        this.subscription = new Subscription(
                store.log(), store.settled(), store.attempts(), deadLetters, diskTasks, context.delivery(), metrics);
        this.metrics = metrics;
        this.retention = new Retention(name.value(), store.log(), store.settled(), diskTasks, context.delivery());
        LongSupplier nanoTime = context.delivery().nanoTime();
        DroppingOldest dropping = new DroppingOldest(
                name.value(), store.log(), store.settled(), subscription, diskTasks, nanoTime, metrics);
        FullPipe full =
                new FullPipe(store.config().whenFull(), store.log().oldSegments(), retention, dropping, nanoTime);
        this.appends = new Appends(
                name, store.log(), diskTasks, full, store.config(), subscription::backlog, nanoTime, metrics);
        this.acks = new AckCommit(name, store.settled(), diskTasks, nanoTime);
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

    /** Delivers about that many bytes; returns how many events that were. */
    int deliver(int budgetBytes) {
        return foundIsDurable() ? subscription.deliver(budgetBytes) : 0;
    }

    private boolean foundIsDurable() {
        return store.log().durableId() >= foundUpToId;
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

    /** What is due besides appending and delivering; call once a turn. Returns true if there was something. */
    boolean upkeep() {
        boolean didWork = subscription.upkeep();
        retention.turn();
        return didWork;
    }

    /** When there will be something to do without a command, or {@code otherwise}. */
    long nextDeadlineNanos(long otherwise) {
        long deadline = foundIsDurable() ? subscription.nextDeadlineNanos(otherwise) : otherwise;
        deadline = earlier(deadline, retention.nextDeadlineNanos(otherwise));
        deadline = earlier(deadline, appends.commit().nextDeadlineNanos(otherwise));
        deadline = earlier(deadline, acks.nextDeadlineNanos(otherwise));
        return earlier(deadline, appends.nextDeadlineNanos(otherwise));
    }

    private static long earlier(long a, long b) {
        return b - a < 0 ? b : a;
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
                metrics.droppedEvents(),
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
