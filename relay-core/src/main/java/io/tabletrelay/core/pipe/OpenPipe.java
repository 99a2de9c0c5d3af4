package io.tabletrelay.core.pipe;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.delivery.BindOptions;
import io.tabletrelay.core.delivery.DeadLetters;
import io.tabletrelay.core.delivery.DiskTasks;
import io.tabletrelay.core.delivery.DroppingOldest;
import io.tabletrelay.core.delivery.Retention;
import io.tabletrelay.core.delivery.Subscription;
import io.tabletrelay.core.metrics.PipeMetrics;
import io.tabletrelay.core.store.EventLog;
import io.tabletrelay.core.store.folder.LifeCycle;
import io.tabletrelay.core.store.folder.PipeStore;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

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
    private final OpenSubscriptions subscriptions;
    private final LetterDesk letterDesk;
    private final Retention retention;
    private final PipeMetrics metrics;
    /** What an earlier run left: nothing is delivered before all of it is durable. */
    private final long foundUpToId;

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
        this.subscriptions =
                new OpenSubscriptions(name, store, deadLetters, context, diskTasks, memory, metrics, onFailure);
        this.metrics = metrics;
        this.retention = new Retention(name.value(), store.log(), subscriptions, diskTasks, context.delivery());
        LongSupplier nanoTime = context.delivery().nanoTime();
        DroppingOldest dropping =
                new DroppingOldest(name.value(), store.log(), subscriptions, diskTasks, nanoTime, metrics);
        FullPipe full =
                new FullPipe(store.config().whenFull(), store.log().oldSegments(), retention, dropping, nanoTime);
        this.appends = new Appends(
                name,
                store.log(),
                diskTasks,
                full,
                store.config(),
                subscriptions::backlog,
                nanoTime,
                memory.passed(),
                subscriptions::raiseAppendedUpTo,
                metrics);
        this.letterDesk = new LetterDesk(
                name,
                store,
                deadLetters,
                subscriptions,
                appends,
                diskTasks,
                nanoTime,
                context.delivery().clock());
        this.life = new PipeLife(name, store.folder(), store.log(), diskTasks, appends, this::hold, nanoTime);
    }

    private void hold(LifeCycle now) {
        appends.refuseAll(now.refusal(name));
        subscriptions.pause(!now.sends());
        if (now.isFinished()) {
            subscriptions.finish();
        }
    }

    /** One turn; sends up to about that many payload bytes. Returns how much was done. */
    int turn(int deliveryBytes, boolean hasConsumer) {
        int work = appends.turn();
        letterDesk.turn();
        appends.commit().turn(hasConsumer || appends.confirming());
        work += subscriptions.turn(deliveryBytes, foundIsDurable());
        retention.turn();
        appends.checkFiles();
        life.turn(this::isAllSettled, subscriptions.exist());
        return work;
    }

    /** True: every subscription has settled everything that was and will be confirmed, as durably as the pipe settles. */
    private boolean isAllSettled() {
        return subscriptions.areAllSettled() && appends.isIdle();
    }

    /** True: its files may be closed, and nobody will notice. */
    boolean isIdle() {
        boolean appendedIsDurable = store.log().durableId() == store.log().lastId()
                || store.log().lastId() == foundUpToId; // the next open finds it as this one did
        return appends.isIdle() && subscriptions.isIdle() && retention.isIdle() && appendedIsDurable;
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
        long deadline = subscriptions.nextDeadlineNanos(otherwise, foundIsDurable());
        deadline = earlier(deadline, appends.commit().nextDeadlineNanos(otherwise));
        deadline = earlier(deadline, life.nextDeadlineNanos(otherwise));
        return earlier(deadline, appends.nextDeadlineNanos(otherwise));
    }

    /** Closes files that nobody will notice. I/O thread. */
    void closeIdle() {
        subscriptions.close();
        store.closeInOrder();
    }

    /** Closes the files, also after a failure. I/O thread. */
    void close() {
        subscriptions.close();
        store.close();
    }

    PipeStore store() {
        return store;
    }

    DeadLetters deadLetters() {
        return deadLetters;
    }

    LetterDesk letterDesk() {
        return letterDesk;
    }

    Appends appends() {
        return appends;
    }

    OpenSubscriptions subscriptions() {
        return subscriptions;
    }

    /** The subscription of that name; null: there is none, see {@link #createSubscription}, or it is being changed. */
    @Nullable
    Subscription subscription(String subscriptionName) {
        return subscriptions.subscription(subscriptionName);
    }

    /**
     * Makes the subscription of that name durable, if there is none, and hands it over; at once or in a later turn.
     *
     * @param whenNot is told why there is none
     */
    void createSubscription(
            String subscriptionName,
            BindOptions.Start start,
            Consumer<Subscription> then,
            Consumer<RelayException> whenNot) {
        subscriptions
                .changes()
                .add(new SubscriptionChange(
                        SubscriptionChange.Kind.CREATE,
                        subscriptionName,
                        start,
                        made -> then.accept(Objects.requireNonNull(made).subscription()),
                        whenNot));
    }

    /** Dropped to make room, since the relay was started. */
    long droppedEvents() {
        return metrics.droppedEvents();
    }

    PipeLife life() {
        return life;
    }

    private boolean foundIsDurable() {
        return store.log().durableId() >= foundUpToId;
    }

    /** What is wrong though the pipe is open; empty: nothing. */
    String trouble() {
        String ofAppends = appends.commit().trouble();
        return !ofAppends.isEmpty() ? ofAppends : subscriptions.trouble();
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
                subscriptions.lowestFloor(),
                subscriptions.durableFloor(),
                log.lastId() - log.voidIds() - subscriptions.backlog(),
                subscriptions.shown().subscription().deliveredUpTo(),
                subscriptions.inFlight(),
                subscriptions.waiting(),
                deadLetters.count(),
                metrics.droppedEvents(),
                store.diskBytes(),
                standing.consumer(),
                store.settings().values(),
                subscriptions.status());
    }

    LoopedPipe.Snapshot snapshot() {
        subscriptions.show();
        return new LoopedPipe.Snapshot(
                true,
                subscriptions.backlog(),
                subscriptions.inFlight(),
                subscriptions.waiting(),
                subscriptions.lowestFloor(),
                store.log().lastId());
    }
}
