package io.tabletrelay.core.server;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.pipe.Pipe;
import io.tabletrelay.core.pipe.PipeStatus;
import io.tabletrelay.core.protocol.Command;
import io.tabletrelay.core.protocol.ProtocolException;
import io.tabletrelay.core.protocol.ServerLines;
import io.tabletrelay.core.protocol.SourceFrame;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One PUBLISH of a connection: its frames go to the intake in order, and what became of them is told in the same order.
 *
 * <p>Threading: frames come from the connection's worker thread, answers from any; what they share is guarded by a lock under
 * which nothing waits. What is told is told by the thread for answers.
 */
final class ProducingSide {
    /** Most events that may be unanswered. */
    static final int CREDIT_EVENTS = 1024;
    /** Most bytes of theirs; one event always fits. */
    static final long CREDIT_BYTES = 16L << 20;

    private enum State {
        ASKING,
        READY,
        /** FINISH came, and events of before are unanswered. */
        FINISHING,
        /** The pipe is being finished. */
        MARKING,
        OVER
    }

    private final Connection connection;
    private final Answers answers;
    private final Connection.Surroundings surroundings;
    private final Pipe pipe;
    private final Command.Publish asked;
    private final String sourceType;

    private final Object lock = new Object();
    private final Unanswered unanswered = new Unanswered();
    private State state = State.ASKING;
    private boolean telling;

    /** Only without a producer name, on the worker thread: what the next event belongs to, and its sequence. */
    private EventIntake.Order.Unnamed stream = new EventIntake.Order.Unnamed(this);

    private long nextSequence = 1;

    ProducingSide(
            Connection connection,
            Answers answers,
            Connection.Surroundings surroundings,
            Pipe pipe,
            Command.Publish asked,
            String sourceType) {
        this.connection = connection;
        this.answers = answers;
        this.surroundings = surroundings;
        this.pipe = pipe;
        this.asked = asked;
        this.sourceType = sourceType;
    }

    PipeName pipe() {
        return asked.pipe();
    }

    boolean isOver() {
        synchronized (lock) {
            return state == State.OVER;
        }
    }

    /** Asks the pipe how far it is; READY or ERROR is told when it has answered. */
    void open() {
        String producer = asked.producer();
        connection.takeMessages(surroundings.intake().maxEventBytes() + SourceFrame.MAX_OVERHEAD_BYTES);
        if (producer != null) {
            surroundings.producers().enter(asked.pipe(), producer, this);
            if (isOver()) {
                leave(); // taken over or closed meanwhile
                return;
            }
        }
        CompletionStage<Long> last =
                producer == null ? CompletableFuture.completedStage(0L) : pipe.lastSequence(producer);
        var unused = pipe.status()
                .thenCombine(last, this::ready)
                .whenComplete((answer, failure) -> surroundings.answers().execute(() -> opened(answer, failure)));
    }

    private Map<String, Object> ready(PipeStatus status, long last) {
        if (status.state().equals("FAILED")) {
            throw new RelayException(
                    ErrorCode.PIPE_FAILED, "pipe cannot be used: pipe=" + pipe() + "; " + status.reason());
        }
        Map<String, Object> said = new LinkedHashMap<>();
        said.put("pipe", pipe().value());
        said.put("epoch", status.epoch());
        said.put("last", last);
        said.put("credit", CREDIT_EVENTS);
        said.put("creditBytes", CREDIT_BYTES);
        said.put("maxBytes", surroundings.intake().maxEventBytes());
        said.put("durability", status.durability().word());
        return said;
    }

    private void opened(@Nullable Map<String, Object> answer, @Nullable Throwable failure) {
        synchronized (lock) {
            if (state == State.OVER) {
                return;
            }
            state = answer == null ? State.OVER : State.READY;
        }
        if (answer == null) {
            leave();
            answers.refused(known(failure));
        } else {
            answers.say(ServerLines.ready(answer));
        }
    }

    /** Throws for a frame that cannot be an event of this connection now: it changes nothing. */
    void frame(byte[] frame) throws ProtocolException {
        SourceFrame event = SourceFrame.decode(frame, asked.headers());
        Unanswered.Event entry;
        boolean finishing;
        synchronized (lock) {
            if (state == State.OVER) {
                return; // its answers would go nowhere
            }
            if (state == State.ASKING) {
                throw new RelayException(ErrorCode.BAD_LINE, "a binary frame before READY");
            }
            finishing = state != State.READY;
            entry = unanswered.add(event.sequence(), frame.length, CREDIT_EVENTS, CREDIT_BYTES);
        }
        if (entry == null) {
            over();
            connection.close(
                    Answers.TOO_MUCH,
                    "more than " + CREDIT_EVENTS + " events or " + CREDIT_BYTES
                            + " bytes without an answer; wait for STORED");
        } else if (finishing) {
            answered(
                    entry,
                    null,
                    new RelayException(
                            ErrorCode.PIPE_FINISHED, "event refused: pipe=" + pipe() + "; it came after FINISH"));
        } else {
            take(event, entry);
        }
    }

    private void take(SourceFrame event, Unanswered.Event entry) {
        String producer = asked.producer();
        EventIntake.Order order;
        if (producer != null) {
            order = new EventIntake.Order.Named(new ProducerSequence(producer, event.sequence()));
        } else {
            order = unnamed(event.sequence());
            if (order == null) {
                answered(
                        entry,
                        null,
                        EventIntake.outOfSequence(
                                stream.isBroken()
                                        ? "one before it was refused and must come again"
                                        : "sequence=" + event.sequence() + ", expected=" + nextSequence));
                return;
            }
        }
        EventIntake.Order.Unnamed taken = order instanceof EventIntake.Order.Unnamed unnamed ? unnamed : null;
        var unused = surroundings
                .intake()
                .take(pipe(), sourceType, event.headers(), event.bytes(), order)
                .whenComplete((appended, failure) -> answered(entry, taken, failure == null ? null : known(failure)));
    }

    /** Null if an event of that sequence must not be stored. */
    private EventIntake.Order.@Nullable Unnamed unnamed(long sequence) {
        if (stream.isBroken()) {
            synchronized (lock) {
                if (unanswered.blockedAt() != sequence) {
                    return null;
                }
            }
            stream = new EventIntake.Order.Unnamed(this);
        } else if (sequence != nextSequence) {
            return null;
        }
        nextSequence = sequence + 1;
        return stream;
    }

    /** First of all, and on the thread that stores, nothing more of that order may follow. */
    private void answered(
            Unanswered.Event entry, EventIntake.Order.@Nullable Unnamed order, @Nullable RelayException refusal) {
        if (order != null && refusal != null && Unanswered.isForNow(refusal.code())) {
            order.breakOff();
        }
        boolean tell;
        synchronized (lock) {
            entry.answer(refusal);
            tell = !telling;
            telling = true;
        }
        if (tell) {
            surroundings.answers().execute(this::tell);
        }
    }

    /** Tells all that can be told by now: one STORED for many events. */
    private void tell() {
        List<String> told;
        boolean finish;
        synchronized (lock) {
            telling = false;
            told = unanswered.told();
            finish = markIfAllAnswered();
        }
        told.forEach(answers::say);
        if (finish) {
            finishNow();
        }
    }

    /** Once all events of before are answered. Throws if it was asked for already, or too early. */
    void finish() {
        boolean now;
        synchronized (lock) {
            if (state != State.READY) {
                throw new RelayException(ErrorCode.BAD_LINE, "FINISH before READY, or again");
            }
            state = State.FINISHING;
            now = markIfAllAnswered();
        }
        if (now) {
            surroundings.answers().execute(this::finishNow);
        }
    }

    private boolean markIfAllAnswered() {
        boolean finish = state == State.FINISHING && unanswered.isEmpty();
        if (finish) {
            state = State.MARKING;
        }
        return finish;
    }

    private void finishNow() {
        long blockedAt;
        synchronized (lock) {
            blockedAt = unanswered.blockedAt();
        }
        if (blockedAt != 0) {
            finished(EventIntake.outOfSequence(
                    "pipe is not finished, sequence=" + blockedAt + " was refused and has not come again"));
            return;
        }
        var unused = pipe.finish()
                .whenComplete((last, failure) ->
                        surroundings.answers().execute(() -> finished(failure == null ? null : known(failure))));
    }

    private void finished(@Nullable RelayException refusal) {
        synchronized (lock) {
            if (state == State.MARKING) {
                state = State.READY;
            }
        }
        if (refusal == null) {
            answers.say(ServerLines.FINISHED);
        } else {
            answers.error(refusal);
        }
    }

    private static RelayException known(@Nullable Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        return cause instanceof RelayException known
                ? known
                : new RelayException(ErrorCode.INTERNAL, "not done by a fault of the relay: cause=" + cause, cause);
    }

    /** A newer connection has the producer's name. */
    void takenOver() {
        over();
        connection.close(Answers.TAKEN_OVER, "taken over by a newer connection of this producer");
    }

    void closed() {
        over();
        leave();
    }

    private void over() {
        synchronized (lock) {
            state = State.OVER;
        }
    }

    private void leave() {
        String producer = asked.producer();
        if (producer != null) {
            surroundings.producers().leave(asked.pipe(), producer, this);
        }
    }
}
