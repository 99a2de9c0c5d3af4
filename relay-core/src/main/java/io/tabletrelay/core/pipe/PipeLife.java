package io.tabletrelay.core.pipe;

import io.tabletrelay.api.Appended;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.core.delivery.DiskTasks;
import io.tabletrelay.core.store.EventLog;
import io.tabletrelay.core.store.folder.LifeCycle;
import io.tabletrelay.core.store.folder.PipeFolder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The life cycle of an open pipe: each change is on disk first, then it holds, then it is answered.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 */
final class PipeLife {
    private static final Logger LOG = LoggerFactory.getLogger(PipeLife.class);
    private static final long RETRY_NANOS = 1_000_000_000L;

    private final PipeName pipe;
    private final PipeFolder folder;
    private final EventLog log;
    private final DiskTasks diskTasks;
    private final Appends appends;
    private final Consumer<LifeCycle> holds;
    private final LongSupplier nanoTime;
    private final List<CompletableFuture<Long>> finishing = new ArrayList<>();

    /** As it holds; a change that is being stored does not hold yet. */
    private LifeCycle life;

    private boolean goingOn;
    /** A change that comes by itself could not be stored. */
    private boolean retries;

    private long retryAtNanos;

    /** {@code holds} is told what holds from now on: what is stored at once, and each change. */
    PipeLife(
            PipeName pipe,
            PipeFolder folder,
            EventLog log,
            DiskTasks diskTasks,
            Appends appends,
            Consumer<LifeCycle> holds,
            LongSupplier nanoTime) {
        this.pipe = pipe;
        this.folder = folder;
        this.log = log;
        this.diskTasks = diskTasks;
        this.appends = appends;
        this.holds = holds;
        this.nanoTime = nanoTime;
        this.life = folder.lifeCycle();
        holds.accept(life);
    }

    LifeCycle current() {
        return life;
    }

    /** {@code answer} is given null when the change holds, or else what refuses it. */
    void change(StateChange change, @Nullable Long ifVersion, Consumer<@Nullable Throwable> answer) {
        store(
                stored -> {
                    if (ifVersion != null && ifVersion != stored.version()) {
                        throw new WrongVersionException(pipe, stored.version(), ifVersion);
                    }
                    return change.applyTo(stored, pipe);
                },
                answer);
    }

    /** Completes with the last id once everything up to it is durable and the mark is stored. */
    void finish(CompletableFuture<Long> finished) {
        if (life.isFinished()) {
            finished.complete(life.finishedAtId());
            return;
        }
        finishing.add(finished);
        if (finishing.size() == 1) {
            appends.finish(this::allIsDurable);
        }
    }

    /** The pipe goes on by itself where everything is settled; call once a turn. */
    void turn(BooleanSupplier allSettled, boolean hasSubscription) {
        boolean waits = retries && nanoTime.getAsLong() - retryAtNanos < 0;
        if (goingOn || waits) {
            return;
        }
        retries = false;
        boolean changes = !life.settled(hasSubscription).equals(life);
        if (!changes || !allSettled.getAsBoolean()) {
            return;
        }
        goingOn = true;
        LifeCycle seen = life;
        store(stored -> stored.equals(seen) ? stored.settled(hasSubscription) : stored, this::wentOn);
    }

    /** When a turn is wanted though no command comes, or {@code otherwise}. */
    long nextDeadlineNanos(long otherwise) {
        return retries ? retryAtNanos : otherwise;
    }

    private void wentOn(@Nullable Throwable failure) {
        goingOn = false;
        retries = failure != null;
        if (failure != null) {
            retryAtNanos = nanoTime.getAsLong() + RETRY_NANOS;
            LOG.warn("pipe's state cannot be stored, trying again: pipe={}, state={}", pipe, life.state(), failure);
        }
    }

    private void allIsDurable(@Nullable Appended nothing, @Nullable Throwable refusal) {
        if (refusal != null) {
            finished(refusal);
        } else {
            long lastId = log.lastId();
            store(before -> before.finished(lastId, pipe), this::finished);
        }
    }

    private void finished(@Nullable Throwable failure) {
        List<CompletableFuture<Long>> answers = List.copyOf(finishing);
        finishing.clear();
        appends.goOn();
        for (CompletableFuture<Long> answer : answers) {
            if (failure == null) {
                answer.complete(life.finishedAtId());
            } else {
                answer.completeExceptionally(failure);
            }
        }
    }

    private void store(UnaryOperator<LifeCycle> change, Consumer<@Nullable Throwable> then) {
        diskTasks.submit(() -> folder.change(change), failure -> {
            LifeCycle before = life;
            life = folder.lifeCycle();
            if (!life.equals(before)) {
                LOG.info("pipe's state has changed: pipe={}, before={}, now={}", pipe, before, life);
                holds.accept(life);
            }
            then.accept(failure);
        });
    }
}
