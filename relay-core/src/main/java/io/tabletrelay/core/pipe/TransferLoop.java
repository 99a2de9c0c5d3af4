package io.tabletrelay.core.pipe;

import io.tabletrelay.api.Durability;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.delivery.Consumer;
import io.tabletrelay.core.delivery.ConsumerLine;
import io.tabletrelay.core.delivery.DeadLetter;
import io.tabletrelay.core.delivery.DeadLetters;
import io.tabletrelay.core.delivery.Subscription;
import io.tabletrelay.core.metrics.PipeMetrics;
import io.tabletrelay.core.store.StoreException;
import io.tabletrelay.core.store.folder.PipeStore;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One pipe's step function: each {@link #doWork} takes commands, appends in a batch, confirms, and delivers while credit lasts.
 *
 * <p>States: OPENING → OPEN → CLOSED; OPENING or OPEN → FAILED (the store cannot be used; said once) → OPENING (after a wait that
 * doubles up to a minute). Connections stay in every state, publishes are refused in FAILED and CLOSED.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 */
final class TransferLoop implements ConsumerLine.Listener {
    private static final Logger log = LoggerFactory.getLogger(TransferLoop.class);
    private static final int DELIVERY_BYTES_A_TURN = 256 << 10;
    private static final int MOST_SAID_BEFORE_OPEN = 4096;
    private static final long FIRST_RETRY_NANOS = 1_000_000_000L;
    private static final long LONGEST_RETRY_NANOS = 60_000_000_000L;
    private static final long FLUSH_RETRY_NANOS = 1_000_000_000L;

    enum State {
        OPENING,
        OPEN,
        FAILED,
        CLOSED
    }

    private final PipeName name;
    private final Supplier<PipeStore> opener;
    private final PipeContext context;
    private final PipeMetrics metrics;
    private final DiskQueue diskTasks;
    private final ConsumerLine line;
    /** Connections that asked for the pipe while it was not open, and have not gone since: they wait, also through a failure. */
    private final ArrayDeque<Consumer> boundBeforeOpen = new ArrayDeque<>();
    /** Lines that came while the pipe was not open: they wait likewise. */
    private final ArrayDeque<Runnable> saidBeforeOpen = new ArrayDeque<>();
    /** Publishes and questions while it was being opened: they are answered when it is, or has failed. */
    private final ArrayDeque<Request> askedBeforeOpen = new ArrayDeque<>();

    private State state = State.OPENING;
    /** Under way; null once it is done, or as soon as its outcome counts no more. */
    private @Nullable Opening opening;

    private boolean flushing;
    private boolean flushFailed;
    private long flushAgainAtNanos;
    private boolean stopping;
    private String reason = "";
    private ErrorCode failureCode = ErrorCode.PIPE_FAILED;
    private @Nullable OpenPipe open;
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
        this.context = context;
        this.metrics = metrics;
        this.diskTasks = new DiskQueue(context.ioThreads(), transferThread);
        this.line = new ConsumerLine(context.delivery().config().takeoverProbe().toNanos(), this);
    }

    /** One turn, after the commands. Returns how much was done; more than nothing means: call again soon. */
    int doWork() {
        if (state == State.FAILED && now() - retryAtNanos >= 0) {
            state = State.OPENING;
        }
        if (state == State.OPENING && opening == null && !stopping) {
            startOpening();
        }
        line.expireProbe(now());
        OpenPipe current = open;
        if (current == null) {
            return 0;
        }
        int work = current.appends().turn();
        current.commit(line.holder() != null);
        work += current.subscription().deliver(DELIVERY_BYTES_A_TURN);
        work += current.subscription().upkeep() ? 1 : 0;
        if (current.store().attempts().dirty() && !flushing && (!flushFailed || now() - flushAgainAtNanos >= 0)) {
            flushing = true;
            diskTasks.submit(current.store().attempts()::flush, failure -> flushed(current, failure));
        }
        return work;
    }

    /** When the next turn is wanted though no command comes, or {@code otherwise}. */
    long nextDeadlineNanos(long otherwise) {
        long deadline = line.probeDeadlineNanos(otherwise);
        if (state == State.FAILED) {
            return earlier(deadline, retryAtNanos);
        }
        OpenPipe current = open;
        if (current == null) {
            return deadline;
        }
        if (flushFailed && !flushing) {
            deadline = earlier(deadline, flushAgainAtNanos);
        }
        return earlier(deadline, current.nextDeadlineNanos(otherwise));
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
        if (stopping || state == State.FAILED) {
            request.whenNot().accept(unavailable());
        } else if (current == null) {
            askedBeforeOpen.add(request);
        } else {
            request.whenOpen().accept(current);
        }
    }

    /** Waits until the pipe is open; once the relay is stopping nobody is bound any more. */
    void bind(Consumer consumer) {
        if (open == null) {
            boundBeforeOpen.add(consumer);
        } else if (!stopping && !consumer.isGone()) {
            line.join(consumer, now());
        }
    }

    void gone(Consumer consumer) {
        consumer.gone();
        boundBeforeOpen.remove(consumer);
        line.gone(consumer, now());
    }

    void life(Consumer consumer, boolean probePong) {
        line.life(consumer, probePong, now());
    }

    /** Acks (an id) and negative acks (its negative) of a connection. */
    void lines(Consumer from, long[] lines) {
        OpenPipe current = open;
        if (!from.everBound()) {
            metrics.lateAcksDropped(lines.length);
        } else if (current != null) {
            apply(current.subscription(), from, lines);
        } else if (saidBeforeOpen.size() < MOST_SAID_BEFORE_OPEN) {
            saidBeforeOpen.add(() -> lines(from, lines));
        } else {
            metrics.lateAcksDropped(lines.length);
        }
    }

    PipeStatus status() {
        OpenPipe current = open;
        if (current == null) {
            return new PipeStatus(
                    name.value(),
                    0,
                    state.name(),
                    reason,
                    Durability.PROCESS,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    line.holder() != null,
                    Map.of());
        }
        return current.status(line.holder() != null);
    }

    LoopedPipe.Snapshot snapshot() {
        OpenPipe current = open;
        return current == null ? LoopedPipe.Snapshot.NOTHING : current.snapshot();
    }

    void listDeadLetters(long after, int limit, CompletableFuture<List<DeadLetter>> result) {
        request(new Request(
                current -> diskTasks.submit(
                        () -> result.complete(current.deadLetters().list(after, limit)), failure -> {
                            if (failure != null) {
                                result.completeExceptionally(failure);
                            }
                        }),
                result::completeExceptionally));
    }

    /** The relay is stopping: no publish is taken and nothing is sent any more; acks still count. */
    void stopSending() {
        stopping = true;
        OpenPipe current = open;
        if (current != null) {
            current.subscription().stopSending();
            current.appends().failWaiting(unavailable());
        }
        failWaiting(unavailable());
    }

    /** Closes the store; the future completes when that is done. Nothing is taken afterwards. */
    void close(CompletableFuture<Void> closed) {
        stopSending();
        OpenPipe current = open;
        open = null;
        state = State.CLOSED;
        closeStore(current, closed);
    }

    /** The pipe cannot go on: everything that waits is told, and it is opened again later. */
    void fail(Throwable cause) {
        if (state == State.FAILED || state == State.CLOSED) {
            log.warn("something broke in a pipe that is not open: pipe={}, state={}", name, state, cause);
            return;
        }
        PipeFailure failure = PipeFailure.of(name, "its store cannot be used", cause);
        log.error("{}; opening it again in {} ms", failure.reason(), retryNanos / 1_000_000, cause);
        state = State.FAILED;
        opening = null;
        reason = failure.reason();
        failureCode = failure.code();
        retryAtNanos = now() + retryNanos;
        retryNanos = Math.min(retryNanos * 2, LONGEST_RETRY_NANOS);
        OpenPipe current = open;
        open = null;
        if (current != null) {
            current.appends().failAll(failure);
            closeStore(current, new CompletableFuture<>());
        }
        failWaiting(failure);
    }

    @Override
    public void taken(Consumer holder) {
        OpenPipe current = open;
        if (current != null) {
            current.subscription().attach(holder);
        }
    }

    @Override
    public void left(Consumer holder, boolean lost) {
        OpenPipe current = open;
        if (current != null) {
            current.subscription().detach(lost && !stopping);
        }
    }

    private void apply(Subscription subscription, Consumer from, long[] lines) {
        int dropped = 0;
        for (long id : lines) {
            boolean known = id > 0 ? subscription.ack(id) : subscription.nack(from, -id);
            dropped += known ? 0 : 1;
        }
        if (dropped > 0) {
            metrics.lateAcksDropped(dropped);
        }
    }

    private void startOpening() {
        Opening started = new Opening();
        opening = started;
        diskTasks.submit(started::run, started::done);
    }

    private void opened(OpenPipe opened) {
        open = opened;
        state = State.OPEN;
        reason = "";
        retryNanos = FIRST_RETRY_NANOS;
        flushFailed = false;
        Consumer holder = line.holder();
        if (holder != null) {
            opened.subscription().attach(holder);
        }
        for (Runnable said = saidBeforeOpen.poll(); said != null; said = saidBeforeOpen.poll()) {
            said.run();
        }
        for (Consumer asked = boundBeforeOpen.poll(); asked != null; asked = boundBeforeOpen.poll()) {
            bind(asked);
        }
        for (Request asked = askedBeforeOpen.poll(); asked != null; asked = askedBeforeOpen.poll()) {
            asked.whenOpen().accept(opened);
        }
    }

    /** On a full disk deliveries and acks go on: a kill meanwhile forgets attempts, which costs deliveries and no event. */
    private void flushed(OpenPipe of, @Nullable Throwable failure) {
        flushing = false;
        boolean full = failure instanceof StoreException refusal && refusal.code() == ErrorCode.STORAGE_FULL;
        if (full && !flushFailed) {
            log.warn("attempts cannot be written, trying again each second: pipe={}", name, failure);
        }
        flushFailed = full;
        flushAgainAtNanos = now() + FLUSH_RETRY_NANOS;
        if (failure != null && !full && of == open) {
            fail(failure);
        }
    }

    private void failWaiting(RelayException why) {
        for (Request asked = askedBeforeOpen.poll(); asked != null; asked = askedBeforeOpen.poll()) {
            asked.whenNot().accept(why);
        }
    }

    private void closeStore(@Nullable OpenPipe of, CompletableFuture<Void> closed) {
        diskTasks.submit(
                () -> {
                    if (of != null) {
                        of.subscription().close();
                        of.store().close();
                    }
                },
                failure -> {
                    if (failure != null) {
                        log.warn("files could not be closed in order: pipe={}", name, failure);
                    }
                    if (of != null) { // what the last force covered is confirmed
                        of.appends().failAll(unavailable());
                    }
                    closed.complete(null);
                });
    }

    private RelayException unavailable() {
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

    /** Opens the store: what was found is handed from the I/O thread to the transfer thread. */
    private final class Opening {
        private @Nullable PipeStore store;
        private @Nullable DeadLetters deadLetters;

        void run() {
            PipeStore opened = opener.get();
            store = opened;
            DeadLetters letters = new DeadLetters(opened.deadLetterLog());
            letters.settleIn(opened.settled());
            deadLetters = letters;
        }

        void done(@Nullable Throwable failure) {
            boolean counts = opening == this;
            if (counts && !stopping && store != null && deadLetters != null) {
                opening = null;
                opened(new OpenPipe(name, store, deadLetters, context, diskTasks, metrics));
            } else if (store != null) {
                store.close();
            }
            if (counts && failure != null) {
                fail(failure);
            }
        }
    }
}
