package io.tabletrelay.api.client;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.api.client.RelayEvent.Answer;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * What a consumer says and hears.
 *
 * <p>An event is held from its delivery until it is answered. While it is at work here, another delivery of it, after a
 * reconnect or a timeout, is not a second piece of work: the answer to the first counts for both.
 *
 * <p>Threading: confined to the client's loop, but for the handler's calls and {@link #answered}, which come from any thread.
 */
final class ConsumerSide implements Connector.Side, RelayEvent.Answers {
    private static final long LONGEST_DELAY_MILLIS = 60_000;
    private static final Answer ACK = new Answer.Ack();
    private static final int REASON_CHARS = 500;

    private final ConsumerOptions options;
    private final Connector connector;
    private final Handling handling;
    private final @Nullable ExecutorService ownThreads;
    private final CompletableFuture<Void> ready = new CompletableFuture<>();
    private final CompletableFuture<Void> completion = new CompletableFuture<>();
    private final Queue<Answered> answers = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean answersWait = new AtomicBoolean();
    private final Map<Long, RelayEvent> held = new HashMap<>();
    private final Deque<String> lines = new ArrayDeque<>();
    private final AckRanges acks;
    private int connection;
    private long epoch;
    private boolean bound;
    private boolean closing;
    private boolean unbinding;

    ConsumerSide(ConsumerOptions options) {
        this.options = options;
        acks = new AckRanges(options.windowEvents());
        Executor given = options.executor();
        ownThreads = given == null ? threads(options) : null;
        Executor executor = ownThreads != null ? ownThreads : Objects.requireNonNull(given);
        handling = new Handling(executor, options.concurrency(), options.eventsAtOnce(), this::handle);
        connector = new Connector(
                "relay-consumer-" + options.pipe(), options.address(), options.http(), options.longestSilence(), this);
    }

    private static ExecutorService threads(ConsumerOptions options) {
        return Executors.newFixedThreadPool(
                options.concurrency(), task -> ClientLoop.daemon(task, "relay-handler-" + options.pipe()));
    }

    private record Answered(RelayEvent event, Answer answer) {}

    void start() {
        connector.start();
        Duration holdEvery = options.holdEvery();
        if (holdEvery != null) {
            connector.loop().after(holdEvery, () -> holdAll(holdEvery));
        }
    }

    CompletableFuture<Void> ready() {
        return ready.copy();
    }

    CompletableFuture<Void> completion() {
        return completion.copy();
    }

    /** True on a thread that would wait for itself. */
    boolean mustNotWait() {
        return handling.isCurrent() || connector.loop().isCurrent();
    }

    @Override
    public String hello() {
        connection++;
        return options.bindLine();
    }

    @Override
    public void line(String line) {
        int colon = line.indexOf(':');
        String argument = line.substring(colon + 1);
        switch (colon < 0 ? line : line.substring(0, colon)) {
            case "READY" -> bound(Json.parse(argument).number("epoch"));
            case "ERROR" -> refused(Refusal.parse(argument));
            case "END", "UNBOUND" -> connector.close();
            default -> {} // what later versions may say
        }
    }

    private void bound(long newEpoch) {
        if (epoch != newEpoch) {
            acks.clear();
            held.clear();
        }
        epoch = newEpoch;
        bound = true;
        connector.ready();
        if (closing) {
            lines.add("WINDOW:0");
        }
        ready.complete(null);
    }

    private void refused(RelayException why) {
        connector.refused(why);
        boolean notTheClose = why.code() == ErrorCode.BAD_LINE || why.code() == ErrorCode.BAD_OPTION;
        if (notTheClose && !bound) {
            connector.end(new RelayClosedException(CloseCode.ABNORMAL, "the BIND was refused", why));
        }
    }

    @Override
    public void frame(ByteBuffer frame) {
        List<RelayEvent> fresh = new ArrayList<>();
        try {
            for (RelayEvent event : EventFrame.read(frame, epoch, this)) {
                if (!closing && isFresh(event)) {
                    fresh.add(event);
                }
            }
        } catch (IllegalArgumentException e) {
            connector.reconnect(e.toString());
            return;
        }
        handling.add(fresh);
    }

    private boolean isFresh(RelayEvent event) {
        RelayEvent before = held.get(event.id());
        if (before != null && (before.atWork || before.isAnswered())) {
            before.connection = connection;
            return false;
        }
        event.connection = connection;
        held.put(event.id(), event);
        return true;
    }

    private void handle(List<RelayEvent> events) {
        try {
            options.handler().handle(events);
            if (!options.manualAck()) {
                ack(events);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            refuse(events, e);
        } catch (Throwable e) {
            refuse(events, e);
        } finally {
            events.forEach(event -> event.atWork = false);
        }
    }

    private static void refuse(List<RelayEvent> events, Throwable e) {
        String message = e.getMessage() == null ? e.toString() : e.getMessage();
        for (RelayEvent event : events) {
            // As long as the relay's own backoff is; a NACK without a delay has no place for a reason.
            long delayMillis =
                    Math.min(LONGEST_DELAY_MILLIS, 1_000L << Math.min(10, Math.max(0, event.delivery() - 1)));
            event.nack(Duration.ofMillis(delayMillis), message);
        }
    }

    /** All before the loop is told, so that one line answers them. */
    private void ack(List<RelayEvent> events) {
        for (RelayEvent event : events) {
            if (event.tryAnswer()) {
                answers.add(new Answered(event, ACK));
            }
        }
        tellLoop();
    }

    @Override
    public void answered(RelayEvent event, Answer answer) {
        answers.add(new Answered(event, answer));
        tellLoop();
    }

    private void tellLoop() {
        if (answersWait.compareAndSet(false, true)) {
            connector.loop().run(this::takeAnswers);
        }
    }

    private void takeAnswers() {
        answersWait.set(false);
        for (Answered next = answers.poll(); next != null; next = answers.poll()) {
            take(next.event, next.answer);
        }
        connector.pump();
        closeWhenDone();
    }

    private void take(RelayEvent event, Answer answer) {
        boolean current = held.get(event.id()) == event;
        if (current && !(answer instanceof Answer.Hold)) {
            held.remove(event.id());
        }
        if (event.epoch() != epoch) {
            return;
        }
        boolean ours = current && bound && event.connection == connection;
        if (answer instanceof Answer.Ack) {
            acks.add(event.id());
        } else if (ours) {
            lines.add(line(event.id(), answer));
        }
    }

    private static String line(long id, Answer answer) {
        if (answer instanceof Answer.Nack nack) {
            return "NACK:" + id + ":" + nack.delayMillis() + ":" + oneLine(nack.reason());
        }
        return answer instanceof Answer.Term term ? "TERM:" + id + ":" + oneLine(term.reason()) : "HOLD:" + id;
    }

    private static String oneLine(String reason) {
        StringBuilder line = new StringBuilder();
        reason.codePoints()
                .limit(REASON_CHARS)
                .map(c -> Character.isISOControl(c) || Character.getType(c) == Character.SURROGATE ? ' ' : c)
                .forEach(line::appendCodePoint);
        return line.toString();
    }

    private void holdAll(Duration every) {
        for (RelayEvent event : held.values()) {
            if (bound && event.connection == connection && event.timesHeld++ > 0 && !event.isAnswered()) {
                lines.add("HOLD:" + event.id());
            }
        }
        connector.pump();
        connector.loop().after(every, () -> holdAll(every));
    }

    @Override
    public @Nullable Outgoing next() {
        if (!bound) {
            return null;
        }
        String line = lines.poll();
        if (line == null) {
            line = acks.line();
        }
        if (line == null && closing && !unbinding && held.isEmpty()) {
            unbinding = true;
            line = "UNBIND";
        }
        return line == null ? null : new Outgoing.Line(line);
    }

    @Override
    public void lost() {
        bound = false;
        unbinding = false;
        lines.clear();
        acks.lost();
        handling.clear().forEach(event -> held.remove(event.id(), event));
        closeWhenDone();
    }

    /** Takes no more events, and ends once those at work are answered, or time is up. */
    CompletableFuture<Void> stop() {
        connector.loop().run(() -> {
            if (closing) {
                return;
            }
            closing = true;
            // UNBIND would give back what is at work here, to be done twice: first nothing more comes.
            handling.clear().forEach(event -> held.remove(event.id(), event));
            if (bound) {
                lines.add("WINDOW:0");
            }
            connector.loop().after(options.closeTimeout(), connector::closeNow);
            connector.pump();
            closeWhenDone();
        });
        return completion();
    }

    /** Without a connection nobody holds anything for us. */
    private void closeWhenDone() {
        if (closing && !bound && held.isEmpty() && acks.isEmpty()) {
            connector.close();
        }
    }

    @Override
    public void ended(@Nullable RelayClosedException why) {
        handling.clear();
        if (ownThreads != null) {
            ownThreads.shutdownNow();
        }
        RelayClosedException early =
                why != null ? why : new RelayClosedException(CloseCode.NORMAL, "closed before it was bound", null);
        ready.completeExceptionally(early);
        if (why == null) {
            completion.complete(null);
        } else {
            completion.completeExceptionally(why);
        }
    }
}
