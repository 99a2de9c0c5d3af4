package io.tabletrelay.core.pipe;

import io.tabletrelay.api.Appended;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.delivery.DeadLetters;
import io.tabletrelay.core.delivery.DiskTasks;
import io.tabletrelay.core.delivery.HandledCount;
import io.tabletrelay.core.delivery.LetterSelection;
import io.tabletrelay.core.delivery.RedrivenLetters;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.folder.PipeStore;
import java.time.InstantSource;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Redrives and purges a pipe's dead letters, one request at a time. A redrive puts down on disk what it is about to append, appends
 * it as one group, and puts down then that the letters are done with; where it is cut short the next open ends it.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 */
final class LetterDesk {
    private final PipeName pipe;
    private final PipeStore store;
    private final DeadLetters letters;
    private final OpenSubscriptions subscriptions;
    private final Appends appends;
    private final DiskTasks diskTasks;
    private final LongSupplier nanoTime;
    private final InstantSource clock;
    /** Who waits for what is under way; null: nothing is. */
    private @Nullable CompletableFuture<HandledCount> current;
    /** Why what was to be appended is not in the log; null: it may be. */
    private @Nullable Throwable refusal;

    private boolean closed;

    LetterDesk(
            PipeName pipe,
            PipeStore store,
            DeadLetters letters,
            OpenSubscriptions subscriptions,
            Appends appends,
            DiskTasks diskTasks,
            LongSupplier nanoTime,
            InstantSource clock) {
        this.pipe = pipe;
        this.store = store;
        this.letters = letters;
        this.subscriptions = subscriptions;
        this.appends = appends;
        this.diskTasks = diskTasks;
        this.nanoTime = nanoTime;
        this.clock = clock;
    }

    void purge(LetterSelection which, CompletableFuture<HandledCount> result) {
        if (!begin(result)) {
            return;
        }
        AtomicReference<@Nullable HandledCount> purged = new AtomicReference<>();
        diskTasks.submit(() -> purged.set(letters.purge(which)), failure -> end(purged.get(), failure));
    }

    /** @param objection why nothing may be appended to the pipe now; null: it may */
    void redrive(LetterSelection which, @Nullable RelayException objection, CompletableFuture<HandledCount> result) {
        if (objection != null) {
            result.completeExceptionally(objection);
            return;
        }
        if (!begin(result)) {
            return;
        }
        long above = store.log().lastId();
        Set<String> names = subscriptions.names();
        AtomicReference<@Nullable RedrivenLetters> taken = new AtomicReference<>();
        diskTasks.submit(
                () -> taken.set(letters.beginRedrive(which, pipe.value(), names, above)),
                failure -> taken(taken.get(), failure));
    }

    private void taken(@Nullable RedrivenLetters taken, @Nullable Throwable failure) {
        if (closed) {
            return;
        }
        if (failure != null || taken == null) {
            end(null, failure);
        } else if (taken.numbers().isEmpty()) {
            end(taken.count(0, 0), null);
        } else {
            EventGroup group = new EventGroup(taken.events(), null, clock.millis());
            appends.add(new WaitingAppend(group, null, store.settings(), nanoTime.getAsLong(), new AppendListener() {
                @Override
                public void answered(@Nullable Appended appended, @Nullable Throwable why) {
                    if (appended != null) {
                        appended(taken, appended);
                    } else {
                        refusal = why;
                    }
                }

                @Override
                public @Nullable RelayException objection() {
                    return subscriptions.names().containsAll(taken.subscriptions()) ? null : gone();
                }
            }));
        }
    }

    private RelayException gone() {
        return new RelayException(
                ErrorCode.NO_SUCH_SUBSCRIPTION,
                "dead letters not redriven: pipe=" + pipe + "; their subscription was deleted meanwhile");
    }

    private void appended(RedrivenLetters taken, Appended ids) {
        if (closed) {
            return;
        }
        diskTasks.submit(() -> letters.redriven(taken.numbers()), failure -> {
            if (closed) {
                return;
            }
            end(taken.count(ids.firstId(), ids.lastId()), failure);
            if (failure != null) { // what was begun is ended by the next open
                throw PipeFailure.of(pipe, "it cannot be stored that dead letters were redriven", failure);
            }
        });
    }

    /** One turn, after that of the appends: where one of them broke the log there is none, and the next open looks what is there. */
    void turn() {
        Throwable why = refusal;
        if (why != null) {
            refusal = null;
            diskTasks.submit(letters::endRedrive, failure -> {
                if (!closed) {
                    end(null, why);
                }
            });
        }
    }

    /** The pipe's files are being closed: what is under way is ended by the next open. */
    void close() {
        closed = true;
        Throwable why = refusal;
        end(
                null,
                why != null
                        ? why
                        : new RelayException(
                                ErrorCode.PIPE_FAILED,
                                "it is not known whether dead letters were redriven or purged: pipe=" + pipe
                                        + " was closed meanwhile; try it again, none is redriven twice"));
    }

    private boolean begin(CompletableFuture<HandledCount> result) {
        if (current != null) {
            result.completeExceptionally(new RelayException(
                    ErrorCode.BUSY,
                    "dead letters are being redriven or purged: pipe=" + pipe + "; try it again in a moment"));
            return false;
        }
        current = result;
        return true;
    }

    private void end(@Nullable HandledCount done, @Nullable Throwable failure) {
        CompletableFuture<HandledCount> waiting = current;
        current = null;
        if (waiting == null) {
            return;
        }
        if (failure != null) {
            waiting.completeExceptionally(failure);
        } else {
            waiting.complete(Objects.requireNonNull(done));
        }
    }
}
