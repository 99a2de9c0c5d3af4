package io.tabletrelay.core.pipe;

import io.tabletrelay.api.Durability;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.delivery.Consumer;
import io.tabletrelay.core.delivery.ConsumerLine;
import io.tabletrelay.core.delivery.DeadLetter;
import io.tabletrelay.core.delivery.DeadLetters;
import io.tabletrelay.core.delivery.DiskTasks.DiskTask;
import io.tabletrelay.core.delivery.Subscription;
import io.tabletrelay.core.metrics.PipeMetrics;
import io.tabletrelay.core.store.PipeStore;
import java.util.ArrayDeque;
import java.util.List;
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
    private static final int LINES_KEPT_WHILE_NOT_OPEN = 4096;
    private static final long FIRST_RETRY_NANOS = 1_000_000_000L;
    private static final long LONGEST_RETRY_NANOS = 60_000_000_000L;

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
    private final ArrayDeque<Appends.Waiting> publishesBeforeOpen = new ArrayDeque<>();
    private final ArrayDeque<Runnable> linesBeforeOpen = new ArrayDeque<>();
    private final ArrayDeque<Query> queriesBeforeOpen = new ArrayDeque<>();

    private State state = State.OPENING;
    private boolean openingStarted;
    private boolean flushing;
    private boolean stopping;
    private String reason = "";
    private @Nullable OpenPipe open;
    private long retryNanos = FIRST_RETRY_NANOS;
    private long retryAtNanos;

    /** A question that needs the open store. */
    interface Query {
        void answer(OpenPipe open);

        void fail(RelayException why);
    }

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
            openingStarted = false;
        }
        if (state == State.OPENING && !openingStarted) {
            openingStarted = true;
            diskTasks.submit(new Open());
        }
        line.expireProbe(now());
        OpenPipe current = open;
        if (current == null) {
            return 0;
        }
        int work = current.appends().turn();
        work += current.subscription().deliver(DELIVERY_BYTES_A_TURN);
        work += current.subscription().upkeep() ? 1 : 0;
        if (current.store().attempts().dirty() && !flushing) {
            flushing = true;
            diskTasks.submit(new FlushAttempts(current));
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
        return current == null
                ? deadline
                : earlier(deadline, current.subscription().nextDeadlineNanos(otherwise));
    }

    void append(Appends.Waiting publish) {
        OpenPipe current = open;
        if (stopping || state == State.FAILED) {
            RelayException why = unavailable();
            metrics.refused(why.code());
            publish.result().completeExceptionally(why);
        } else if (current == null) {
            publishesBeforeOpen.add(publish);
        } else {
            current.appends().add(publish);
        }
    }

    /** While the relay is stopping nobody is bound any more: the connection is closed with 1012 soon. */
    void bind(Consumer consumer) {
        if (!stopping) {
            line.join(consumer, now());
        }
    }

    void gone(Consumer consumer) {
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
        } else if (linesBeforeOpen.size() < LINES_KEPT_WHILE_NOT_OPEN) {
            linesBeforeOpen.add(() -> lines(from, lines));
        } else {
            metrics.lateAcksDropped(lines.length);
        }
    }

    void query(Query query) {
        OpenPipe current = open;
        if (current != null) {
            query.answer(current);
        } else if (state == State.OPENING) {
            queriesBeforeOpen.add(query);
        } else {
            query.fail(unavailable());
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
                    line.holder() != null);
        }
        Subscription subscription = current.subscription();
        PipeStore store = current.store();
        long voidIds = store.log().voidIds();
        return new PipeStatus(
                name.value(),
                store.epoch(),
                state.name(),
                subscription.trouble(),
                store.durability(),
                store.log().firstId(),
                store.log().lastId(),
                voidIds,
                subscription.floor(),
                store.log().lastId() - voidIds - subscription.backlog(),
                subscription.deliveredUpTo(),
                subscription.inFlight(),
                subscription.waiting(),
                current.deadLetters().count(),
                store.diskBytes(),
                line.holder() != null);
    }

    LoopedPipe.Snapshot snapshot() {
        OpenPipe current = open;
        if (current == null) {
            return new LoopedPipe.Snapshot(0, 0, 0, 0, 0);
        }
        Subscription subscription = current.subscription();
        return new LoopedPipe.Snapshot(
                subscription.backlog(),
                subscription.inFlight(),
                subscription.waiting(),
                subscription.floor(),
                current.store().log().lastId());
    }

    void listDeadLetters(long after, int limit, CompletableFuture<List<DeadLetter>> result) {
        query(new Query() {
            @Override
            public void answer(OpenPipe current) {
                diskTasks.submit(new ListDeadLetters(current.deadLetters(), after, limit, result));
            }

            @Override
            public void fail(RelayException why) {
                result.completeExceptionally(why);
            }
        });
    }

    /** The relay is stopping: no publish is taken and nothing is sent any more; acks still count. */
    void stopSending() {
        stopping = true;
        OpenPipe current = open;
        if (current != null) {
            current.subscription().stopSending();
            current.appends().failAll(unavailable());
        }
        failWaiting(unavailable());
    }

    /** Closes the store; the future completes when that is done. Nothing is taken afterwards. */
    void close(CompletableFuture<Void> closed) {
        stopSending();
        OpenPipe current = open;
        open = null;
        state = State.CLOSED;
        diskTasks.submit(new Close(current, closed));
    }

    /** The pipe cannot go on: everything that waits is told, and it is opened again later. */
    void fail(Throwable cause) {
        if (state == State.FAILED || state == State.CLOSED) {
            return;
        }
        PipeFailure failure = PipeFailure.of(name, "its store cannot be used", cause);
        log.error("{}; opening it again in {} ms", failure.reason(), retryNanos / 1_000_000, cause);
        state = State.FAILED;
        reason = failure.reason();
        retryAtNanos = now() + retryNanos;
        retryNanos = Math.min(retryNanos * 2, LONGEST_RETRY_NANOS);
        OpenPipe current = open;
        open = null;
        if (current != null) {
            current.appends().failAll(failure);
            diskTasks.submit(new Close(current, new CompletableFuture<>()));
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

    private void opened(OpenPipe opened) {
        open = opened;
        state = State.OPEN;
        reason = "";
        retryNanos = FIRST_RETRY_NANOS;
        Consumer holder = line.holder();
        for (Runnable kept = linesBeforeOpen.poll(); kept != null; kept = linesBeforeOpen.poll()) {
            kept.run();
        }
        if (holder != null) {
            opened.subscription().attach(holder);
        }
        for (Appends.Waiting p = publishesBeforeOpen.poll(); p != null; p = publishesBeforeOpen.poll()) {
            opened.appends().add(p);
        }
        for (Query query = queriesBeforeOpen.poll(); query != null; query = queriesBeforeOpen.poll()) {
            query.answer(opened);
        }
    }

    private void failWaiting(RelayException why) {
        for (Appends.Waiting p = publishesBeforeOpen.poll(); p != null; p = publishesBeforeOpen.poll()) {
            metrics.refused(why.code());
            p.result().completeExceptionally(why);
        }
        for (Query query = queriesBeforeOpen.poll(); query != null; query = queriesBeforeOpen.poll()) {
            query.fail(why);
        }
    }

    private RelayException unavailable() {
        return stopping
                ? new RelayException(
                        ErrorCode.STOPPING, "relay is stopping: pipe=" + name + "; publish again when it is back")
                : new RelayException(ErrorCode.PIPE_FAILED, reason + "; publish again later");
    }

    private long now() {
        return context.delivery().nanoTime().getAsLong();
    }

    private static long earlier(long a, long b) {
        return b - a < 0 ? b : a;
    }

    private final class Open implements DiskTask {
        private @Nullable PipeStore store;
        private @Nullable DeadLetters deadLetters;

        @Override
        public void run() {
            PipeStore opened = opener.get();
            store = opened;
            DeadLetters letters = new DeadLetters(opened.deadLetterLog());
            letters.settleIn(opened.settled());
            deadLetters = letters;
        }

        @Override
        public void done(@Nullable Throwable failure) {
            if (store != null && deadLetters != null && state == State.OPENING && !stopping) {
                opened(new OpenPipe(name, store, deadLetters, context, diskTasks, metrics));
            } else if (store != null) {
                store.close();
            }
            if (failure != null) {
                fail(failure);
            }
        }
    }

    private static final class ListDeadLetters implements DiskTask {
        private final DeadLetters deadLetters;
        private final long after;
        private final int limit;
        private final CompletableFuture<List<DeadLetter>> result;

        ListDeadLetters(DeadLetters deadLetters, long after, int limit, CompletableFuture<List<DeadLetter>> result) {
            this.deadLetters = deadLetters;
            this.after = after;
            this.limit = limit;
            this.result = result;
        }

        @Override
        public void run() {
            result.complete(deadLetters.list(after, limit));
        }

        @Override
        public void done(@Nullable Throwable failure) {
            if (failure != null) {
                result.completeExceptionally(failure);
            }
        }
    }

    private final class FlushAttempts implements DiskTask {
        private final OpenPipe of;

        FlushAttempts(OpenPipe of) {
            this.of = of;
        }

        @Override
        public void run() {
            of.store().attempts().flush();
        }

        @Override
        public void done(@Nullable Throwable failure) {
            flushing = false;
            if (failure != null && of == open) {
                fail(failure);
            }
        }
    }

    private static final class Close implements DiskTask {
        private final @Nullable OpenPipe pipe;
        private final CompletableFuture<Void> closed;

        Close(@Nullable OpenPipe pipe, CompletableFuture<Void> closed) {
            this.pipe = pipe;
            this.closed = closed;
        }

        @Override
        public void run() {
            if (pipe != null) {
                pipe.subscription().close();
                pipe.store().close();
            }
        }

        @Override
        public void done(@Nullable Throwable failure) {
            if (failure != null) {
                log.warn("pipe's files could not be closed in order", failure);
            }
            closed.complete(null);
        }
    }
}
