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
import io.tabletrelay.core.store.folder.LifeCycle;
import io.tabletrelay.core.store.folder.PipeStore;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

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

    private final AttemptsFlush flush;
    private final PipeLife life;

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
        this.foundUpToId = store.log().lastId();
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
        this.metrics = metrics;
        this.retention = new Retention(name.value(), store.log(), store.settled(), diskTasks, context.delivery());
        LongSupplier nanoTime = context.delivery().nanoTime();
        DroppingOldest dropping = new DroppingOldest(
                name.value(), store.log(), store.settled(), subscription, diskTasks, nanoTime, metrics);
        FullPipe full =
                new FullPipe(store.config().whenFull(), store.log().oldSegments(), retention, dropping, nanoTime);
        this.appends = new Appends(
                name,
                store.log(),
                diskTasks,
                full,
                store.config(),
                subscription::backlog,
                nanoTime,
                memory.passed(),
                store.settled()::raiseAppendedUpTo,
                metrics);
        this.acks = new AckCommit(name, store.settled(), diskTasks, nanoTime);
        this.flush = new AttemptsFlush(name, store.attempts(), diskTasks, nanoTime, onFailure);
        this.life = new PipeLife(name, store.folder(), store.log(), diskTasks, appends, this::hold, nanoTime);
    }

    private void hold(LifeCycle now) {
        appends.refuseAll(now.refusal(name));
        hold(now, subscription);
    }

    /** What that means for a subscription; one that is made later must be told as well. */
    private static void hold(LifeCycle now, Subscription of) {
        of.pause(!now.sends());
        if (now.isFinished()) {
            of.finish();
        }
    }

    /** One turn; sends up to about that many payload bytes. Returns how much was done. */
    int turn(int deliveryBytes, boolean hasConsumer) {
        int work = appends.turn();
        appends.commit().turn(hasConsumer || appends.confirming());
        acks.turn();
        work += foundIsDurable() ? subscription.deliver(deliveryBytes) : 0;
        work += subscription.upkeep() ? 1 : 0;
        retention.turn();
        appends.checkFiles();
        flush.turn();
        life.turn(this::isAllSettled, true);
        return work;
    }

    /** True: every subscription has settled everything that was and will be confirmed, as durably as the pipe settles. */
    private boolean isAllSettled() {
        return subscription.isAllSettled() && appends.isIdle();
    }

    /** True: its files may be closed, and nobody will notice. */
    boolean isIdle() {
        boolean settledIsDurable =
                !store.settled().wantsForce() && acks.trouble().isEmpty();
        boolean appendedIsDurable = store.log().durableId() == store.log().lastId()
                || store.log().lastId() == foundUpToId; // the next open finds it as this one did
        boolean nothingToDo = appends.isIdle() && subscription.isIdle() && flush.isIdle() && retention.isIdle();
        return nothingToDo && settledIsDurable && appendedIsDurable;
    }

    /** When the next turn is wanted though no command comes, or {@code otherwise}. */
    long nextDeadlineNanos(long otherwise) {
        return earlier(openUntilNanos(otherwise), expiresAtNanos(otherwise));
    }

    /** When settled segments that are kept may go, or {@code otherwise}; the files may be closed until then. */
    long expiresAtNanos(long otherwise) {
        return retention.nextDeadlineNanos(otherwise);
    }

    /** When a turn is wanted that finds the files open, or {@code otherwise}. */
    long openUntilNanos(long otherwise) {
        long deadline = foundIsDurable() ? subscription.nextDeadlineNanos(otherwise) : otherwise;
        deadline = earlier(deadline, appends.commit().nextDeadlineNanos(otherwise));
        deadline = earlier(deadline, acks.nextDeadlineNanos(otherwise));
        deadline = earlier(deadline, flush.retryNanos(otherwise));
        deadline = earlier(deadline, life.nextDeadlineNanos(otherwise));
        return earlier(deadline, appends.nextDeadlineNanos(otherwise));
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

    PipeLife life() {
        return life;
    }

    Subscription subscription() {
        return subscription;
    }

    private boolean foundIsDurable() {
        return store.log().durableId() >= foundUpToId;
    }

    /** What is wrong though the pipe is open; empty: nothing. */
    String trouble() {
        String ofAppends = appends.commit().trouble();
        String ofSubscription = subscription.trouble();
        return !ofAppends.isEmpty() ? ofAppends : !ofSubscription.isEmpty() ? ofSubscription : acks.trouble();
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

    private static long earlier(long a, long b) {
        return b - a < 0 ? b : a;
    }

    PipeStatus status(Standing standing) {
        EventLog log = store.log();
        return new PipeStatus(
                name.value(),
                store.epoch(),
                standing.state(),
                standing.reason(),
                true,
                standing.version(),
                standing.paused(),
                standing.finishedAtId(),
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
                standing.consumer(),
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
