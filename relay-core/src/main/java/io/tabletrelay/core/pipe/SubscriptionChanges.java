package io.tabletrelay.core.pipe;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.delivery.BindOptions.Start;
import io.tabletrelay.core.delivery.DiskTasks;
import io.tabletrelay.core.delivery.StartSearch;
import io.tabletrelay.core.delivery.SubscriptionName;
import io.tabletrelay.core.store.EventLog;
import io.tabletrelay.core.store.ForceFailedException;
import io.tabletrelay.core.store.StoreException;
import io.tabletrelay.core.store.folder.PipeStore;
import io.tabletrelay.core.store.folder.SubscriptionFiles;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates, resets and deletes a pipe's subscriptions, one after the other: finds where it begins, waits until nothing uses the files of
 * the one concerned, and has an I/O task change what is on disk. From the first to the last of that the subscription has no turns.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 */
final class SubscriptionChanges {
    private static final Logger LOG = LoggerFactory.getLogger(SubscriptionChanges.class);

    private final String pipe;
    private final PipeStore store;
    private final EventLog log;
    private final OpenSubscriptions subscriptions;
    private final DiskTasks diskTasks;
    private final InstantSource clock;
    private final Consumer<Throwable> onFailure;
    private final ArrayDeque<SubscriptionChange> waiting = new ArrayDeque<>();
    private @Nullable StartSearch search;
    private boolean changing;
    /** Nothing is done any more. */
    private @Nullable RelayException ended;

    SubscriptionChanges(
            String pipe,
            PipeStore store,
            OpenSubscriptions subscriptions,
            DiskTasks diskTasks,
            InstantSource clock,
            Consumer<Throwable> onFailure) {
        this.pipe = pipe;
        this.store = store;
        this.log = store.log();
        this.subscriptions = subscriptions;
        this.diskTasks = diskTasks;
        this.clock = clock;
        this.onFailure = onFailure;
    }

    void add(SubscriptionChange change) {
        if (ended != null) {
            change.whenNot().accept(ended);
            return;
        }
        waiting.add(change);
        turn();
    }

    boolean isIdle() {
        return waiting.isEmpty();
    }

    /** True: it is being changed, and has no turns. */
    boolean concerns(String name) {
        SubscriptionChange first = waiting.peek();
        return first != null && first.name().equals(name);
    }

    /** Goes on with the first one; those that need no disk are done at once. */
    void turn() {
        while (!changing && ended == null && !waiting.isEmpty()) {
            SubscriptionChange first = waiting.element();
            OpenSubscription found = subscriptions.find(first.name());
            RelayException refusal = refusal(first, found);
            if (refusal != null) {
                waiting.remove();
                first.whenNot().accept(refusal);
            } else if (first.kind() == SubscriptionChange.Kind.CREATE && found != null) {
                waiting.remove();
                first.then().accept(found);
            } else if (!begin(first, found)) {
                return;
            }
        }
    }

    /** Whatever waits is told; what an I/O task is about to do stays for the next open to find. */
    void end(RelayException why) {
        ended = why;
        for (SubscriptionChange each = waiting.poll(); each != null; each = waiting.poll()) {
            each.whenNot().accept(why);
        }
    }

    private @Nullable RelayException refusal(SubscriptionChange change, @Nullable OpenSubscription found) {
        if (change.kind() == SubscriptionChange.Kind.CREATE) {
            return found == null ? whyNotCreated(change.name()) : null;
        }
        if (found == null) {
            return new RelayException(
                    ErrorCode.NO_SUCH_SUBSCRIPTION,
                    "no such subscription: pipe=" + pipe + ", subscription=" + change.name());
        }
        int consumers = found.subscription().consumers();
        return consumers == 0
                ? null
                : new RelayException(
                        ErrorCode.WRONG_STATE,
                        "subscription has a consumer: pipe=" + pipe + ", subscription=" + change.name() + ", consumers="
                                + consumers + "; stop it, or kick it");
    }

    private @Nullable RelayException whyNotCreated(String name) {
        try {
            SubscriptionName.check(name);
        } catch (RelayException bad) {
            return bad;
        }
        return subscriptions.count() < OpenSubscriptions.MOST
                ? null
                : new RelayException(
                        ErrorCode.BAD_REQUEST,
                        "too many subscriptions: pipe=" + pipe + ", limit=" + OpenSubscriptions.MOST
                                + "; delete one that is not used");
    }

    /** Returns false if it has to wait for something. */
    private boolean begin(SubscriptionChange change, @Nullable OpenSubscription found) {
        OpenSubscription concerned = found == null ? subscriptions.unborn(change.name()) : found;
        if (concerned != null && !concerned.isQuiet()) {
            return false;
        }
        Start start = change.start();
        if (start == null) {
            long firstKept = log.firstId();
            run(change, found, () -> store.subscriptions().delete(change.name(), firstKept));
            return true;
        }
        long firstId = firstId(change, start);
        if (firstId == 0) {
            return false;
        }
        AtomicReference<@Nullable SubscriptionFiles> files = new AtomicReference<>();
        run(change, found, files, () -> files.set(made(change, firstId)));
        return true;
    }

    /** I/O thread. */
    private SubscriptionFiles made(SubscriptionChange change, long firstId) {
        long lettersBefore = store.deadLetterLog().lastId();
        if (change.kind() == SubscriptionChange.Kind.RESET) {
            return store.subscriptions().reset(change.name(), firstId, lettersBefore);
        }
        boolean needsNoRecord = store.subscriptions().needsNoRecord(change.name(), firstId);
        try {
            return store.subscriptions().create(change.name(), firstId, clock.millis(), lettersBefore);
        } catch (StoreException refusal) {
            if (!needsNoRecord || refusal.code() != ErrorCode.STORAGE_FULL) {
                throw refusal;
            }
            LOG.warn("record of a subscription cannot be written, its ring will do: pipe={}", pipe, refusal);
            return store.subscriptions().createWithoutRecord(clock.millis());
        }
    }

    /** Where it begins; 0: that is being looked for. */
    private long firstId(SubscriptionChange change, Start start) {
        long behind = log.lastId() + 1;
        if (start instanceof Start.Latest) {
            return behind;
        }
        if (start instanceof Start.AtId at) {
            return Math.min(behind, Math.max(at.id(), log.firstId()));
        }
        if (start instanceof Start.AtTime at) {
            return firstIdAt(at.time().toEpochMilli());
        }
        return change.kind() == SubscriptionChange.Kind.CREATE
                ? Math.min(log.firstId(), subscriptions.firstIdOfUnused(change.name()))
                : log.firstId();
    }

    private long firstIdAt(long timeMillis) {
        StartSearch current = search == null ? new StartSearch(log, diskTasks, timeMillis) : search;
        search = current;
        if (!current.step()) {
            return 0;
        }
        search = null;
        long found = current.found();
        diskTasks.submit(current::close, failure -> {});
        return found;
    }

    private void run(SubscriptionChange change, @Nullable OpenSubscription before, Runnable work) {
        run(change, before, new AtomicReference<>(), work);
    }

    private void run(
            SubscriptionChange change,
            @Nullable OpenSubscription before,
            AtomicReference<@Nullable SubscriptionFiles> files,
            Runnable work) {
        changing = true;
        OpenSubscription unborn = before == null ? subscriptions.unborn(change.name()) : null;
        diskTasks.submit(
                () -> {
                    work.run();
                    if (before != null) {
                        before.subscription().close();
                    }
                    if (unborn != null) {
                        unborn.subscription().close();
                    }
                },
                failure -> {
                    changing = false;
                    if (ended == null) {
                        waiting.remove();
                        done(change, files.get(), failure);
                        turn();
                    }
                });
    }

    private void done(SubscriptionChange change, @Nullable SubscriptionFiles files, @Nullable Throwable failure) {
        if (failure == null) {
            change.then().accept(subscriptions.changed(change.name(), files));
            return;
        }
        RelayException why = failure instanceof RelayException known
                ? known
                : new StoreException(
                        ErrorCode.PIPE_FAILED,
                        "subscription cannot be changed: pipe=" + pipe + ", subscription=" + change.name() + ", reason="
                                + failure,
                        failure);
        change.whenNot().accept(why);
        boolean asBefore = why.code() == ErrorCode.STORAGE_FULL
                || (change.kind() == SubscriptionChange.Kind.CREATE && why instanceof ForceFailedException);
        if (!asBefore) {
            onFailure.accept(failure);
        }
    }
}
