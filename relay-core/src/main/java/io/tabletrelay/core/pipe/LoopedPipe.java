package io.tabletrelay.core.pipe;

import io.tabletrelay.api.Appended;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.Payload;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.PipeSettings;
import io.tabletrelay.core.delivery.BindOptions;
import io.tabletrelay.core.delivery.BindOptions.Start;
import io.tabletrelay.core.delivery.DeadLetter;
import io.tabletrelay.core.delivery.DeadLetters;
import io.tabletrelay.core.delivery.DeliverySink;
import io.tabletrelay.core.delivery.EventState;
import io.tabletrelay.core.delivery.Explained;
import io.tabletrelay.core.delivery.HandledCount;
import io.tabletrelay.core.delivery.LetterContent;
import io.tabletrelay.core.delivery.LetterSelection;
import io.tabletrelay.core.metrics.PipeGauges;
import io.tabletrelay.core.metrics.PipeMetrics;
import io.tabletrelay.core.pipe.SubscriptionChange.Kind;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.folder.PipeStore;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jctools.queues.MpscUnboundedArrayQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A pipe whose loop runs on a transfer thread: hands commands over and wakes the thread once for many.
 *
 * <p>The command queue has no bound of its own because each kind of command has one: publishes by their bytes, which count until they
 * are answered, all others by the number of connections and requests.
 *
 * <p>Threading: thread-safe, but for {@link #turn} and what it says about timers, which belong to the transfer thread.
 */
final class LoopedPipe implements Pipe, PipeGauges {
    private static final Logger LOG = LoggerFactory.getLogger(LoopedPipe.class);
    private static final int COMMANDS_A_TURN = 4096;
    private static final long MOST_WAITING_BYTES = 32L << 20;
    /** What a publish costs besides its payloads, so that many tiny ones are bounded too. */
    private static final int BYTES_PER_PUBLISH = 512;

    private final PipeName name;
    private final TransferThread thread;
    private final PipeContext context;
    private final PipeMetrics metrics;
    private final TransferLoop loop;
    private final MpscUnboundedArrayQueue<Consumer<TransferLoop>> commands = new MpscUnboundedArrayQueue<>(64);
    private final AtomicBoolean scheduled = new AtomicBoolean();
    private final AtomicBoolean deleted = new AtomicBoolean();
    private final AtomicLong waitingBytes = new AtomicLong();
    private TransferThread.@Nullable Timer timer;
    private volatile Snapshot snapshot = Snapshot.NOTHING;
    private volatile Standing standing = Standing.NEW;

    /** What the gauges show: the pipe as it was after its last turn. {@code known}: its files have been open. */
    record Snapshot(boolean known, long backlog, int inFlight, int waiting, long floor, long lastId) {
        static final Snapshot NOTHING = new Snapshot(false, 0, 0, 0, 0, 0);
    }

    LoopedPipe(
            PipeName name,
            Supplier<PipeStore> opener,
            TransferThread thread,
            PipeContext context,
            PipeMetrics metrics) {
        this.name = name;
        this.thread = thread;
        this.context = context;
        this.metrics = metrics;
        this.loop = new TransferLoop(name, opener, context, task -> submit(ignored -> task.run()), metrics);
    }

    @Override
    public PipeName name() {
        return name;
    }

    @Override
    public void append(
            List<Payload> payloads,
            @Nullable ProducerSequence sequence,
            PipeSettings madeFor,
            AppendListener listener) {
        long bytes = BYTES_PER_PUBLISH;
        for (Payload payload : payloads) {
            bytes += payload.size();
        }
        long before = waitingBytes.getAndAdd(bytes);
        if (before > 0 && before + bytes > MOST_WAITING_BYTES) {
            waitingBytes.addAndGet(-bytes);
            metrics.refused(ErrorCode.BUSY);
            listener.answered(
                    null,
                    new RelayException(
                            ErrorCode.BUSY,
                            "too much waits to be appended: pipe=" + name + ", waitingBytes=" + before + ", limit="
                                    + MOST_WAITING_BYTES + "; publish again in a moment"));
            return;
        }
        EventGroup group = payloads.isEmpty()
                ? null
                : new EventGroup(payloads, sequence, context.delivery().clock().millis());
        long counted = bytes;
        long now = context.delivery().nanoTime().getAsLong();
        WaitingAppend publish = new WaitingAppend(group, sequence, madeFor, now, new AppendListener() {
            @Override
            public @Nullable RelayException objection() {
                return listener.objection();
            }

            @Override
            public void answered(@Nullable Appended appended, @Nullable Throwable refusal) {
                waitingBytes.addAndGet(-counted); // before the producer is told, who may publish again at once
                tell(listener, appended, refusal);
            }
        });
        submit(running -> running.append(publish));
    }

    private void tell(AppendListener listener, @Nullable Appended appended, @Nullable Throwable refusal) {
        try {
            listener.answered(appended, refusal);
        } catch (Throwable e) { // must not happen, and must not keep others from their answers
            LOG.error("answer to a publish was not taken: pipe={}", name, e);
        }
    }

    @Override
    public ConsumerLink bind(DeliverySink sink, BindOptions options) {
        LinkedConsumer link =
                new LinkedConsumer(this, sink, options, context.delivery().config());
        submit(running -> running.bind(link.consumer()));
        return link;
    }

    @Override
    public CompletionStage<PipeStatus> status() {
        CompletableFuture<PipeStatus> result = new CompletableFuture<>();
        submit(running -> running.request(new TransferLoop.Request(
                open -> result.complete(running.status()), why -> result.complete(running.status()))));
        return result;
    }

    @Override
    public CompletionStage<EventState> stateOf(long id) {
        return ask(open -> open.subscriptions().shown().subscription().stateOf(id));
    }

    @Override
    public CompletionStage<Explained> explain(long id, String subscription) {
        CompletableFuture<Explained> result = new CompletableFuture<>();
        submit(running -> running.explain(new Explaining(name.value(), id, subscription), result));
        return result;
    }

    @Override
    public CompletionStage<Long> lastSequence(String producer) {
        return ask(open -> open.appends().lastSequence(producer));
    }

    @Override
    public CompletionStage<List<DeadLetter>> deadLetters(long after, int limit) {
        return askLetters(letters -> letters.list(after, limit));
    }

    @Override
    public CompletionStage<Optional<LetterContent>> deadLetter(long number) {
        return askLetters(letters -> Optional.ofNullable(letters.find(number)));
    }

    private <T> CompletionStage<T> askLetters(Function<DeadLetters, T> question) {
        CompletableFuture<T> result = new CompletableFuture<>();
        submit(running -> running.askLetters(question, result));
        return result;
    }

    @Override
    public CompletionStage<HandledCount> redrive(LetterSelection which) {
        CompletableFuture<HandledCount> result = new CompletableFuture<>();
        submit(running -> running.request(new TransferLoop.Request(
                open -> open.letterDesk().redrive(which, open.life().current().refusal(name), result),
                result::completeExceptionally)));
        return result;
    }

    @Override
    public CompletionStage<HandledCount> purge(LetterSelection which) {
        CompletableFuture<HandledCount> result = new CompletableFuture<>();
        submit(running -> running.request(new TransferLoop.Request(
                open -> open.letterDesk().purge(which, result), result::completeExceptionally)));
        return result;
    }

    @Override
    public CompletionStage<List<SubscriptionStatus>> subscriptions() {
        return ask(open -> open.subscriptions().status());
    }

    @Override
    public CompletionStage<Created> createSubscription(String subscription, Start start) {
        AtomicBoolean isNew = new AtomicBoolean();
        return change(
                        open -> isNew.set(open.subscriptions().find(subscription) == null),
                        Kind.CREATE,
                        subscription,
                        start)
                .thenApply(status -> new Created(Objects.requireNonNull(status), isNew.get()));
    }

    @Override
    public CompletionStage<SubscriptionStatus> resetSubscription(String subscription, Start start) {
        return change(open -> {}, Kind.RESET, subscription, start).thenApply(Objects::requireNonNull);
    }

    @Override
    public CompletionStage<Void> deleteSubscription(String subscription) {
        return change(open -> {}, Kind.DELETE, subscription, null).thenApply(gone -> null);
    }

    private CompletableFuture<@Nullable SubscriptionStatus> change(
            Consumer<OpenPipe> before, Kind kind, String subscription, @Nullable Start start) {
        CompletableFuture<@Nullable SubscriptionStatus> result = new CompletableFuture<>();
        submit(running -> running.request(new TransferLoop.Request(
                open -> {
                    before.accept(open);
                    open.subscriptions()
                            .changes()
                            .add(new SubscriptionChange(
                                    kind,
                                    subscription,
                                    start,
                                    made -> result.complete(made == null ? null : made.status()),
                                    result::completeExceptionally));
                },
                result::completeExceptionally)));
        return result;
    }

    @Override
    public CompletionStage<Long> finish() {
        CompletableFuture<Long> result = new CompletableFuture<>();
        submit(running -> running.request(
                new TransferLoop.Request(open -> open.life().finish(result), result::completeExceptionally)));
        return result;
    }

    @Override
    public CompletionStage<PipeStatus> change(StateChange change, @Nullable Long ifVersion) {
        CompletableFuture<PipeStatus> result = new CompletableFuture<>();
        submit(running -> running.request(new TransferLoop.Request(
                open -> open.life().change(change, ifVersion, failure -> answer(result, running, failure)),
                why -> answer(result, running, why))));
        return result;
    }

    @Override
    public CompletionStage<PipeStatus> reopen() {
        CompletableFuture<PipeStatus> result = new CompletableFuture<>();
        submit(running -> {
            running.retryNow();
            running.request(new TransferLoop.Request(
                    open -> answer(result, running, null), why -> answer(result, running, why)));
        });
        return result;
    }

    private static void answer(
            CompletableFuture<PipeStatus> result, TransferLoop running, @Nullable Throwable failure) {
        if (failure == null) {
            result.complete(running.status());
        } else {
            result.completeExceptionally(failure);
        }
    }

    /** The pipe is gone for ever: whoever waits, or comes later, is refused. Completes when its files are closed; fails if it was told before. */
    CompletableFuture<Void> delete() {
        RelayException why = new RelayException(
                ErrorCode.NO_SUCH_PIPE, "pipe was deleted: pipe=" + name + "; there is no such pipe");
        if (!deleted.compareAndSet(false, true)) {
            return CompletableFuture.failedFuture(why);
        }
        CompletableFuture<Void> closed = new CompletableFuture<>();
        submit(running -> running.delete(why, closed));
        return closed;
    }

    /** No publish is taken and nothing is sent any more; acks still count. Completes when that is so. */
    CompletableFuture<Void> stopSending() {
        CompletableFuture<Void> stopped = new CompletableFuture<>();
        submit(running -> {
            running.stopSending();
            snapshot = running.snapshot();
            stopped.complete(null);
        });
        return stopped;
    }

    CompletableFuture<Void> close() {
        CompletableFuture<Void> closed = new CompletableFuture<>();
        submit(running -> running.close(closed));
        return closed;
    }

    void submit(Consumer<TransferLoop> command) {
        commands.offer(command);
        wake();
    }

    void wake() {
        if (scheduled.compareAndSet(false, true)) {
            thread.schedule(this);
        }
    }

    /** One turn; asks for another one if there is more to do. Whatever goes wrong in it ends this pipe's work alone. */
    void turn() {
        scheduled.set(false);
        try {
            int taken = 0;
            for (Consumer<TransferLoop> command;
                    taken < COMMANDS_A_TURN && (command = commands.poll()) != null;
                    taken++) {
                command.accept(loop);
            }
            // nothing leaves before everything that was said is known: acks may stand behind the BIND that they came
            // with
            boolean allTaken = taken < COMMANDS_A_TURN;
            if (!allTaken || loop.doWork() > 0) {
                wake();
            }
            snapshot = loop.snapshot();
            standing = loop.standing(standing);
        } catch (Throwable failure) { // an InternalError is how a mapped page that cannot be read shows itself
            loop.fail(failure);
            wake(); // for the commands behind the one that failed
        }
    }

    /** When the next turn is wanted though nothing happens, or {@code otherwise}. */
    long nextDeadlineNanos(long otherwise) {
        return loop.nextDeadlineNanos(otherwise);
    }

    TransferThread.@Nullable Timer timer() {
        return timer;
    }

    void timer(TransferThread.@Nullable Timer newTimer) {
        timer = newTimer;
    }

    /** As the pipe was after its last turn; does not open it. */
    PipeGlance glance(Supplier<Standing> stored) {
        Standing now = standing;
        return PipeGlance.of(
                name.value(), now.life() == null ? now.orLife(stored.get().life()) : now, snapshot);
    }

    boolean hasInFlight() {
        return snapshot.inFlight() > 0;
    }

    @Override
    public long backlogEvents() {
        return snapshot.backlog();
    }

    @Override
    public long inFlightEvents() {
        return snapshot.inFlight();
    }

    @Override
    public long waitingEvents() {
        return snapshot.waiting();
    }

    @Override
    public long settledFloor() {
        return snapshot.floor();
    }

    @Override
    public long lastId() {
        return snapshot.lastId();
    }

    private <T> CompletionStage<T> ask(Function<OpenPipe, T> question) {
        CompletableFuture<T> result = new CompletableFuture<>();
        submit(running -> running.request(new TransferLoop.Request(
                open -> result.complete(question.apply(open)), result::completeExceptionally)));
        return result;
    }
}
