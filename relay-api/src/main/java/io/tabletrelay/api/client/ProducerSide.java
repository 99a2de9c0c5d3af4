package io.tabletrelay.api.client;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * What a producer says and hears.
 *
 * <p>Sequences are given when an event goes out first, and again by what READY says: whatever is not answered then, and not
 * stored, follows the last that is stored. So no answer that was lost makes a hole, and nothing is stored twice.
 *
 * <p>Threading: confined to the client's loop, but for {@link #publish} and {@link #room}.
 */
final class ProducerSide implements Connector.Side {
    private static final Duration ANSWERS_TIMEOUT = Duration.ofSeconds(30);
    private static final int MOST_CREDIT = 1 << 16;

    private final ProducerOptions options;
    private final Connector connector;
    private final Room room;
    private final CompletableFuture<Void> ready = new CompletableFuture<>();
    private final CompletableFuture<Void> completion = new CompletableFuture<>();
    private final CompletableFuture<Void> finished = new CompletableFuture<>();
    private final Queue<Unanswered.Item> published = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean publishedWait = new AtomicBoolean();
    private final Unanswered unanswered = new Unanswered();
    private final Set<Flush> flushing = ConcurrentHashMap.newKeySet();
    private final Deque<Flush> flushes = new ArrayDeque<>();
    private final Credit credit = new Credit();
    private final Backoff refusals =
            new Backoff(upTo -> upTo / 2 + ThreadLocalRandom.current().nextLong(upTo / 2 + 1));
    private volatile @Nullable RelayClosedException ended;
    private long lastNumber;
    private long epoch;
    private long nextSequence;
    private long maxBytes;
    private boolean accepted;
    /** Counts the pauses after refusals; what was planned for an earlier one is void. */
    private long pauses;

    private boolean paused;
    private boolean waited;
    private boolean finishing;
    private boolean finishSent;

    ProducerSide(ProducerOptions options) {
        this.options = options;
        room = new Room(options.unansweredEvents(), options.unansweredBytes());
        connector = new Connector(
                "relay-producer-" + options.pipe(), options.address(), options.http(), options.longestSilence(), this);
    }

    /**
     * One who waits until everything up to a number is answered.
     *
     * <p>Threading: made by who waits, then confined to the client's loop, but for its future.
     */
    private static final class Flush {
        private final CompletableFuture<Void> done = new CompletableFuture<>();
        private long number;
    }

    void start() {
        connector.start();
    }

    CompletableFuture<Void> ready() {
        return ready.copy();
    }

    CompletableFuture<Void> completion() {
        return completion.copy();
    }

    Room room() {
        return room;
    }

    boolean isOnLoop() {
        return connector.loop().isCurrent();
    }

    /** The room is entered already. */
    CompletableFuture<Stored> publish(Unanswered.Item item) {
        published.add(item);
        RelayClosedException why = ended;
        if (why != null) {
            // Whoever takes it from the queue answers it: this thread or the loop's last task.
            failPublished(why);
        } else if (publishedWait.compareAndSet(false, true)) {
            connector.loop().run(() -> {
                takePublished();
                connector.pump();
            });
        }
        return item.stored();
    }

    private void takePublished() {
        publishedWait.set(false);
        for (Unanswered.Item next = published.poll(); next != null; next = published.poll()) {
            if (finishing) {
                fail(
                        next,
                        new RelayException(
                                ErrorCode.PIPE_FINISHED, "event refused: this producer was asked to finish"));
            } else {
                unanswered.add(next, ++lastNumber);
            }
        }
    }

    CompletableFuture<Void> flush() {
        Flush flush = new Flush();
        flushing.add(flush);
        connector.loop().run(() -> {
            takePublished();
            flush.number = lastNumber;
            flushes.add(flush);
            answered();
        });
        failFlushes(ended);
        return flush.done;
    }

    CompletableFuture<Void> finish() {
        connector.loop().run(() -> {
            takePublished();
            finishing = true;
            connector.pump();
        });
        return finished.copy();
    }

    CompletableFuture<Void> stop() {
        connector.loop().after(options.closeTimeout(), connector::closeNow);
        var unused = flush().whenComplete((done, e) -> connector.loop().run(connector::close));
        return completion();
    }

    @Override
    public String hello() {
        return options.publishLine();
    }

    @Override
    public void line(String line) {
        int colon = line.indexOf(':');
        String argument = line.substring(colon + 1);
        switch (colon < 0 ? line : line.substring(0, colon)) {
            case "READY" -> accepted(Json.parse(argument));
            case "STORED" -> stored(Long.parseLong(argument));
            case "REJECTED" -> {
                int end = argument.indexOf(':');
                rejected(Long.parseLong(argument.substring(0, end)), Refusal.parse(argument.substring(end + 1)));
            }
            case "ERROR" -> refused(Refusal.parse(argument));
            case "FINISHED" -> finished();
            default -> {} // what later versions may say
        }
    }

    private void accepted(Json ready) {
        long last = ready.number("last");
        long newEpoch = ready.number("epoch");
        unanswered.goBack();
        if (options.named() && newEpoch == epoch && nextSequence > 0) {
            if (last >= nextSequence) {
                connector.end(new RelayClosedException(
                        CloseCode.ABNORMAL,
                        "another producer has used the same name: its last sequence is " + last,
                        null));
                return;
            }
            unanswered.answeredUpTo(last, this::stored);
            unanswered.askAgain(last);
            answered();
        } else {
            unanswered.forgetRefused();
        }
        epoch = newEpoch;
        nextSequence = unanswered.renumber(last + 1);
        maxBytes = ready.number("maxBytes");
        credit.reset(
                (int) Math.max(1, Math.min(MOST_CREDIT, ready.number("credit"))),
                ready.number("creditBytes", Long.MAX_VALUE));
        accepted = true;
        finishSent = false;
        connector.ready();
        this.ready.complete(null);
    }

    private void refused(RelayException why) {
        if (why.code() == ErrorCode.PIPE_FINISHED && finishSent) {
            finished();
            return;
        }
        connector.refused(why);
        boolean notTheClose = why.code() == ErrorCode.BAD_LINE || why.code() == ErrorCode.BAD_OPTION;
        if (notTheClose && (!accepted || finishSent)) {
            connector.end(new RelayClosedException(CloseCode.ABNORMAL, "the line was refused", why));
        }
    }

    private void stored(long sequence) {
        credit.storedUpTo(sequence);
        refusals.reset();
        unanswered.answeredUpTo(sequence, this::stored);
        answered();
        goOn();
    }

    private void stored(Unanswered.Item item) {
        if (item.stored().complete(new Stored(epoch, item.sequence()))) {
            room.leave(item.frameBytes());
        }
    }

    private void rejected(long sequence, RelayException why) {
        credit.refused(sequence);
        boolean outOfSequence = why.code() == ErrorCode.OUT_OF_SEQUENCE;
        if (why.code() == ErrorCode.PIPE_FINISHED) {
            connector.end(new RelayClosedException(CloseCode.PIPE_OVER, "the pipe is finished", why));
            return;
        }
        if (outOfSequence && !paused && sequence == unanswered.oldestSequence()) {
            connector.reconnect(
                    "the relay expects another sequence: sequence=" + sequence + ", message=" + why.reason());
            return;
        }
        if (outOfSequence || why.code().kind() == ErrorCode.Kind.RETRYABLE) {
            pause();
        } else {
            Unanswered.Item item = unanswered.refused(sequence);
            if (item != null) {
                fail(item, why);
                answered();
            }
        }
        goOn();
    }

    /** Nothing more is sent until a while is over and every frame that is under way is answered. */
    private void pause() {
        if (paused) {
            return;
        }
        paused = true;
        waited = false;
        long pause = ++pauses;
        unanswered.goBack();
        connector.loop().after(refusals.next(), () -> {
            if (pause == pauses) {
                waited = true;
                goOn();
                connector.pump();
            }
        });
        connector.loop().after(ANSWERS_TIMEOUT, () -> {
            if (paused && pause == pauses) {
                connector.reconnect("frames behind a refused one were not answered");
            }
        });
    }

    private void goOn() {
        if (paused && waited && credit.allAnswered()) {
            paused = false;
        }
    }

    private void fail(Unanswered.Item item, RuntimeException why) {
        if (item.stored().completeExceptionally(why)) {
            room.leave(item.frameBytes());
        }
    }

    private void answered() {
        long oldest = unanswered.oldestNumber();
        while (!flushes.isEmpty() && flushes.element().number < oldest) {
            Flush flush = flushes.remove();
            flushing.remove(flush);
            flush.done.complete(null);
        }
    }

    @Override
    public void frame(ByteBuffer frame) {
        // a producer is sent none
    }

    @Override
    public @Nullable Outgoing next() {
        if (!accepted || paused) {
            return null;
        }
        for (Unanswered.Item item = unanswered.nextToSend(); item != null; item = unanswered.nextToSend()) {
            if (item.payloadBytes() <= maxBytes) {
                return credit.suffices(item.frameBytes()) ? send(item) : null;
            }
            // It has no sequence yet, and gets none: the relay would end the connection.
            unanswered.dropNext();
            fail(
                    item,
                    new RelayException(
                            ErrorCode.TOO_LARGE,
                            "event refused: pipe=" + options.pipe() + ", bytes=" + item.payloadBytes() + ", limit="
                                    + maxBytes));
            answered();
        }
        if (finishing && !finishSent && unanswered.isEmpty()) {
            finishSent = true;
            return new Outgoing.Line("FINISH");
        }
        return null;
    }

    private Outgoing send(Unanswered.Item item) {
        unanswered.sending(nextSequence);
        nextSequence = Math.max(nextSequence, item.sequence() + 1);
        credit.sent(item.sequence(), item.frameBytes());
        return new Outgoing.Frame(item.frame());
    }

    private void finished() {
        finished.complete(null);
        connector.close();
    }

    @Override
    public void lost() {
        accepted = false;
        paused = false;
        pauses++;
    }

    @Override
    public void ended(@Nullable RelayClosedException why) {
        RelayClosedException end = why != null
                ? why
                : new RelayClosedException(CloseCode.NORMAL, "closed before there was an answer", null);
        ended = end;
        room.close();
        unanswered.clear().forEach(item -> fail(item, end));
        failPublished(end);
        failFlushes(end);
        ready.completeExceptionally(end);
        finished.completeExceptionally(end);
        if (why == null) {
            completion.complete(null);
        } else {
            completion.completeExceptionally(why);
        }
    }

    private void failFlushes(@Nullable RelayClosedException why) {
        if (why != null) {
            flushing.forEach(flush -> flush.done.completeExceptionally(why));
        }
    }

    private void failPublished(RelayClosedException why) {
        for (Unanswered.Item next = published.poll(); next != null; next = published.poll()) {
            fail(next, why);
        }
    }
}
