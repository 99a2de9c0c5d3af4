package io.tabletrelay.core.pipe;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.delivery.BindOptions;
import io.tabletrelay.core.delivery.Consumer;
import io.tabletrelay.core.delivery.DeadLetters;
import io.tabletrelay.core.delivery.Explained;
import io.tabletrelay.core.delivery.Subscription;
import io.tabletrelay.core.metrics.PipeMetrics;
import io.tabletrelay.core.store.DamageException;
import io.tabletrelay.core.store.folder.LifeCycle;
import io.tabletrelay.core.store.folder.PipeStore;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One pipe's step function: each {@link #doWork} takes commands, appends in a batch, confirms, and delivers while credit lasts.
 *
 * <p>States of its files: OPENING → OPEN → AT_REST (nothing to do, and its place is wanted) → OPENING (at the next use, or when segments that are
 * kept for their age may go; never again once the relay stops); OPENING or OPEN → FAILED (the store cannot be used; said once) →
 * OPENING (after a wait that doubles up to a minute).
 * Connections stay in every state, publishes are refused in FAILED and while the relay stops.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 */
final class TransferLoop {
    private static final Logger log = LoggerFactory.getLogger(TransferLoop.class);
    private static final int DELIVERY_BYTES_A_TURN = 256 << 10;
    private static final long FIRST_RETRY_NANOS = 1_000_000_000L;
    private static final long LONGEST_RETRY_NANOS = 60_000_000_000L;
    /** For so long a publish waits for a place of its pipe among those that are open. */
    private static final long LONGEST_WAIT_NANOS = 10_000_000_000L;

    private final PipeName name;
    private final Supplier<PipeStore> opener;
    private final PipeContext context;
    private final PipeMetrics metrics;
    private final DiskQueue diskTasks;
    private final Bindings bindings;
    private final BeforeOpen beforeOpen = new BeforeOpen();
    private final PipeMemory memory = new PipeMemory();
    private final OpenPlace place;

    private FilesState state = FilesState.OPENING;
    /** Under way; null once it is done, or as soon as its outcome counts no more. */
    private @Nullable Opening opening;

    private boolean closing;
    /** As the pipe was when its files were closed. */
    private LoopedPipe.Snapshot atClose = LoopedPipe.Snapshot.NOTHING;
    /** When a closed pipe is opened though nothing comes for it. */
    private boolean reopens;

    private long reopenAtNanos;

    private boolean stopping;
    private String reason = "";
    private ErrorCode failureCode = ErrorCode.PIPE_FAILED;
    /** What the pipe waits to see gone before it is opened again. */
    private @Nullable DamageException damage;

    private @Nullable OpenPipe open;
    /** Of the pipe as it is open, or was last; null: it was not yet. */
    private @Nullable PipeLife life;
    /** The pipe is gone for ever; null: it is not. */
    private @Nullable RelayException deleted;

    private long retryNanos = FIRST_RETRY_NANOS;
    private long retryAtNanos;

    /** What needs the open store, or else an answer why there is none. */
    record Request(
            java.util.function.Consumer<OpenPipe> whenOpen, java.util.function.Consumer<RelayException> whenNot) {}

    TransferLoop(
            PipeName name,
            Supplier<PipeStore> opener,
            PipeContext context,
            java.util.function.Consumer<Runnable> transferThread,
            PipeMetrics metrics) {
        this.name = name;
        this.opener = opener;
        this.context = context.ofPipe(() -> transferThread.accept(() -> {}));
        this.metrics = metrics;
        this.diskTasks = new DiskQueue(context.ioThreads(), transferThread);
        this.bindings = new Bindings(
                name,
                context.delivery().config().takeoverProbe().toNanos(),
                context.delivery().nanoTime(),
                memory);
        this.place = new OpenPlace(
                context.places(),
                () -> transferThread.accept(() -> {}),
                () -> transferThread.accept(this::closeIfIdle));
    }

    /** One turn, after the commands. Returns how much was done; more than nothing means: call again soon. */
    int doWork() {
        if (bindings.expireProbes()) {
            // what the newcomer acked before it was bound is among the commands now, and goes ahead of deliveries
            return 1;
        }
        if (state == FilesState.FAILED && now() - retryAtNanos >= 0) {
            state = FilesState.OPENING;
        }
        if (state == FilesState.AT_REST
                && !stopping
                && (!beforeOpen.isEmpty() || bindings.wantsOpen() || (reopens && now() - reopenAtNanos >= 0))) {
            state = FilesState.OPENING;
        }
        if (state == FilesState.OPENING && opening == null && !closing && !stopping) {
            openWhenThereIsAPlace();
        }
        OpenPipe current = open;
        if (current == null) {
            return 0;
        }
        int work = current.turn(DELIVERY_BYTES_A_TURN, bindings.any());
        if (work == 0 && place.isWanted(isIdle(current), now())) {
            closeIdle(current);
        }
        return work;
    }

    private boolean isIdle(OpenPipe current) {
        long never = now() + (Long.MAX_VALUE >> 1);
        return !stopping && diskTasks.isIdle() && current.isIdle() && current.openUntilNanos(never) == never;
    }

    /** When the next turn is wanted though no command comes, or {@code otherwise}. */
    long nextDeadlineNanos(long otherwise) {
        long deadline = bindings.probeDeadlineNanos(otherwise);
        if (state == FilesState.FAILED) {
            return earlier(deadline, retryAtNanos);
        }
        if (state == FilesState.OPENING && place.isWaiting()) {
            return earlier(deadline, now() + OpenPlaces.PATIENCE_NANOS);
        }
        if (state == FilesState.AT_REST && reopens && !stopping) {
            return earlier(deadline, reopenAtNanos);
        }
        OpenPipe current = open;
        return current == null ? deadline : earlier(deadline, current.nextDeadlineNanos(otherwise));
    }

    void append(WaitingAppend publish) {
        java.util.function.Consumer<RelayException> refuse = why -> {
            metrics.refused(why.code());
            publish.refuse(why);
        };
        request(new Request(current -> current.append(publish, refuse), refuse));
    }

    void request(Request request) {
        OpenPipe current = open;
        if (stopping || state == FilesState.FAILED) {
            request.whenNot().accept(unavailable());
        } else if (current == null) {
            beforeOpen.ask(request);
        } else {
            request.whenOpen().accept(current);
        }
    }

    /**
     * Waits until the pipe is open, unless nothing is to be said of it but that the connection is bound; once the relay is stopping
     * nobody is bound any more.
     */
    void bind(Consumer consumer) {
        if (deleted != null) {
            consumer.sink().refused(deleted);
            return;
        }
        if (isExacting(consumer) && state == FilesState.FAILED) {
            consumer.sink().refused(unavailable());
            return;
        }
        boolean nothingToSay = !isExacting(consumer)
                && (atClose.lastId() == 0 || bindings.knows(consumer.options().subscription()))
                && atClose.backlog() == 0
                && (life == null || !life.current().isFinished());
        boolean rests = state == FilesState.AT_REST && beforeOpen.isEmpty() && nothingToSay;
        if (open == null && !rests) {
            beforeOpen.bind(consumer);
        } else if (!stopping && !consumer.isGone()) {
            bindings.join(consumer);
        }
    }

    /** True: it is told what it is bound to, and of failures. Consumers of dialect 1 stay whatever happens. */
    private static boolean isExacting(Consumer consumer) {
        return consumer.options().dialect() == BindOptions.Dialect.TWO;
    }

    void unbind(Consumer consumer) {
        beforeOpen.gone(consumer);
        bindings.unbind(consumer);
    }

    void gone(Consumer consumer) {
        consumer.gone();
        beforeOpen.gone(consumer);
        bindings.gone(consumer);
    }

    void life(Consumer consumer, boolean probePong) {
        bindings.life(consumer, probePong);
    }

    /** What a connection said. */
    void lines(Consumer from, SaidLines lines) {
        OpenPipe current = open;
        boolean ofNow = from.beginning() == memory.beginningOf(from.options().subscription());
        if (!from.everBound() || !ofNow || deleted != null) {
            metrics.lateAcksDropped(lines.size());
        } else if (current != null) {
            apply(current.subscription(from.options().subscription()), from, lines);
        } else if (!beforeOpen.say(() -> lines(from, lines))) {
            metrics.lateAcksDropped(lines.size());
        }
    }

    PipeStatus status() {
        OpenPipe current = open;
        Standing now = standing(Standing.NEW);
        return current == null ? PipeStatus.notOpen(name.value(), now) : current.status(now);
    }

    FilesState files() {
        return state;
    }

    LoopedPipe.Snapshot snapshot() {
        OpenPipe current = open;
        return current == null ? atClose : current.snapshot();
    }

    /** The same one if nothing has changed. */
    Standing standing(Standing before) {
        OpenPipe current = open;
        LifeCycle now = life == null ? null : life.current();
        String why = current == null ? reason : current.trouble();
        boolean bound = bindings.any();
        return before.is(state, now, why, bound) ? before : new Standing(state, now, why, bound);
    }

    void explain(Explaining question, CompletableFuture<Explained> result) {
        request(new Request(
                current -> {
                    Explaining.Places places = question.look(current);
                    askLetters(letters -> question.explain(places, letters), result);
                },
                why -> {
                    Explained answer = question.explain(why);
                    if (answer == null) {
                        result.completeExceptionally(why);
                    } else {
                        result.complete(answer);
                    }
                }));
    }

    /** Asks the dead letters by an I/O task. */
    <T> void askLetters(Function<DeadLetters, T> question, CompletableFuture<T> result) {
        request(new Request(
                current -> diskTasks.submit(() -> result.complete(question.apply(current.deadLetters())), failure -> {
                    if (failure != null) {
                        result.completeExceptionally(failure);
                    }
                }),
                result::completeExceptionally));
    }

    /** The relay is stopping: no publish is taken and nothing is sent any more; acks still count. */
    void stopSending() {
        stopping = true;
        bindings.stopping();
        OpenPipe current = open;
        if (current != null) {
            current.subscriptions().stopSending(unavailable());
            current.appends().failWaiting(unavailable());
        }
        beforeOpen.refuseAsked(unavailable());
    }

    /** Closes the store; the future completes when that is done. Nothing is taken afterwards. */
    void close(CompletableFuture<Void> closed) {
        stopSending();
        OpenPipe current = letGo();
        state = FilesState.AT_REST;
        atClose = LoopedPipe.Snapshot.NOTHING;
        Runnable confirmed =
                current == null ? () -> {} : () -> current.appends().failAll(unavailable());
        closeStore(filesOf(current), confirmed, closed); // what the last force covers is confirmed
    }

    /** A failed pipe is opened now. */
    void retryNow() {
        if (state == FilesState.FAILED && !stopping) {
            state = FilesState.OPENING;
        }
    }

    /** The pipe is gone for ever: all who wait are told so; the future completes when its files are closed. */
    void delete(RelayException why, CompletableFuture<Void> closed) {
        deleted = why;
        close(closed);
        bindings.refuse(each -> true, why);
        beforeOpen.refuseAll(why);
    }

    /** The pipe cannot go on: everything that waits is told, and it is opened again later. */
    void fail(Throwable cause) {
        if (state == FilesState.FAILED
                || state == FilesState.AT_REST
                || closing) { // closing: a task of what was open before
            log.warn("something broke in a pipe that is not open: pipe={}, state={}", name, state, cause);
            return;
        }
        PipeFailure failure = PipeFailure.of(name, "its store cannot be used", cause);
        if (!failure.reason().equals(reason)) { // said when it failed first, and still true
            log.error("{}; opening it again in {} ms", failure.reason(), retryNanos / 1_000_000, cause);
        }
        state = FilesState.FAILED;
        damage = cause instanceof DamageException found ? found : null;
        reason = failure.reason();
        failureCode = failure.code();
        retryAtNanos = now() + retryNanos;
        retryNanos = Math.min(retryNanos * 2, LONGEST_RETRY_NANOS);
        OpenPipe current = letGo();
        atClose = LoopedPipe.Snapshot.NOTHING;
        if (current != null) {
            current.appends().failAll(failure);
            current.subscriptions().changes().end(failure);
        }
        closeStore(filesOf(current), () -> {}, new CompletableFuture<>());
        beforeOpen.refuseAsked(failure);
        beforeOpen.refuseBinding(TransferLoop::isExacting, failure);
        bindings.refuse(TransferLoop::isExacting, failure);
    }

    private void apply(@Nullable Subscription subscription, Consumer from, SaidLines lines) {
        if (lines.window() != SaidLines.NO_WINDOW) {
            from.window(lines.window());
        }
        int dropped = 0;
        for (int i = 0; i < lines.size(); i++) {
            dropped += subscription != null && apply(subscription, from, lines, i) ? 0 : 1;
        }
        if (dropped > 0) {
            metrics.lateAcksDropped(dropped);
        }
    }

    private static boolean apply(Subscription subscription, Consumer from, SaidLines lines, int i) {
        long first = lines.first(i);
        return switch (lines.verb(i)) {
            case ACK -> subscription.ack(from, first, lines.second(i));
            case ACK_UP_TO -> subscription.ackUpTo(from, first);
            case NACK -> subscription.nack(from, first, nanos(lines.second(i)), lines.reason(i));
            case TERM -> subscription.terminate(from, first, lines.reason(i));
            case HOLD -> subscription.hold(from, first);
        };
    }

    /** Negative stays negative. */
    private static long nanos(long millis) {
        return millis < 0 ? millis : TimeUnit.MILLISECONDS.toNanos(millis);
    }

    /** Nobody is served any more; what was open is to be closed. */
    private @Nullable OpenPipe letGo() {
        OpenPipe current = open;
        open = null;
        bindings.closed();
        if (current != null) {
            current.subscriptions().letGo();
            current.letterDesk().close();
        }
        return current;
    }

    private void openWhenThereIsAPlace() {
        if (place.take(now())) {
            startOpening();
        } else if (place.waitedNanos(now()) >= LONGEST_WAIT_NANOS) {
            place.waitAnew(now());
            beforeOpen.refuseAsked(new RelayException(
                    ErrorCode.BUSY,
                    "too many pipes have something to do: pipe=" + name + ", open at most="
                            + context.places().most()
                            + "; try again later, raise max-open-pipes or the limit of open files (ulimit -n)"));
        }
    }

    private void startOpening() {
        Opening started = new Opening(opener, damage);
        opening = started;
        diskTasks.submit(started::run, failure -> {
            if (opening != started || stopping) {
                return; // who ended it closes what it has opened
            }
            if (failure != null) {
                fail(failure);
            } else {
                opened(new OpenPipe(
                        name, started.store(), started.deadLetters(), context, diskTasks, memory, metrics, this::fail));
            }
        });
    }

    private void opened(OpenPipe opened) {
        opening = null;
        open = opened;
        life = opened.life();
        state = FilesState.OPEN;
        reason = "";
        retryNanos = FIRST_RETRY_NANOS;
        bindings.opened(opened);
        beforeOpen.handTo(opened, this::bind);
    }

    /** Its place is wanted, and the pipe said that it has nothing to do; it may have since. */
    private void closeIfIdle() {
        OpenPipe current = open;
        if (current != null && isIdle(current)) {
            closeIdle(current);
        } else {
            place.keep(now());
        }
    }

    private void closeIdle(OpenPipe current) {
        letGo();
        state = FilesState.AT_REST;
        atClose = current.snapshot();
        long never = now() + (Long.MAX_VALUE >> 1);
        reopenAtNanos = current.expiresAtNanos(never);
        reopens = reopenAtNanos != never;
        closeStore(current::closeIdle, () -> {}, new CompletableFuture<>());
    }

    /** What closes the files that are open, or will be when the opening is over that is under way; its outcome counts no more. */
    private Runnable filesOf(@Nullable OpenPipe current) {
        Opening underWay = opening;
        opening = null;
        if (current != null) {
            return current::close;
        }
        return underWay == null ? () -> {} : underWay::close;
    }

    /** Until that is done the pipe is not opened again, and its place is not free. */
    private void closeStore(Runnable files, Runnable then, CompletableFuture<Void> closed) {
        closing = true;
        diskTasks.submit(files, failure -> {
            closing = false;
            place.free(now());
            if (failure != null) {
                log.warn("files could not be closed in order: pipe={}", name, failure);
            }
            then.run();
            closed.complete(null);
        });
    }

    private RelayException unavailable() {
        if (deleted != null) {
            return deleted;
        }
        return stopping
                ? new RelayException(
                        ErrorCode.STOPPING, "relay is stopping: pipe=" + name + "; publish again when it is back")
                : new RelayException(failureCode, reason + "; publish again later");
    }

    private long now() {
        return context.delivery().nanoTime().getAsLong();
    }

    private static long earlier(long a, long b) {
        return b - a < 0 ? b : a;
    }
}
