package io.tabletrelay.core.server;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.delivery.BindOptions;
import io.tabletrelay.core.delivery.Bound;
import io.tabletrelay.core.delivery.DeliverySink;
import io.tabletrelay.core.pipe.ConsumerLink;
import io.tabletrelay.core.pipe.Pipe;
import io.tabletrelay.core.protocol.FrameCodec;
import io.tabletrelay.core.protocol.Line;
import io.tabletrelay.core.protocol.LineCodec;
import io.tabletrelay.core.protocol.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/**
 * One consumer of dialect 1: its lines go to the pipe it bound, the pipe's events to its socket.
 *
 * <p>A line or binary frame that means nothing is logged once and counted, and changes nothing: the connection stays.
 *
 * <p>Threading: lines come from one worker thread, deliveries from the pipe's transfer thread, the end from any; what
 * they share is guarded by a lock under which nothing waits.
 */
final class ConsumerSession implements Session, DeliverySink {
    private static final int PIPE_BUSY = 4000;
    private static final int TAKEN_OVER = 4409;
    private static final int TOO_EARLY = 4429;
    private static final long NANOS_PER_SECOND = 1_000_000_000L;
    private static final int MAX_EARLY_ACKS = 1024;

    private enum State {
        UNBOUND,
        ASKING,
        BOUND,
        REFUSED
    }

    private final Connection connection;
    private final SendBuffer out;
    private final Function<PipeName, Pipe> pipes;
    private final EdgeEvents events;
    private final ClientLog log;
    private final SlowConsumers slowConsumers;
    private final BadLines badLines;

    private final Object lock = new Object();
    private final List<Long> earlyAcks = new ArrayList<>();
    private State state = State.UNBOUND;
    private @Nullable ConsumerLink link;
    private boolean closed;
    private boolean roomMissed;

    private volatile @Nullable PipeName asked;
    private volatile byte @Nullable [] probe;
    private long probes;

    ConsumerSession(Connection connection, SendBuffer out, Connection.Surroundings surroundings) {
        this.connection = connection;
        this.out = out;
        pipes = surroundings.pipes();
        events = surroundings.events();
        log = surroundings.log();
        slowConsumers = surroundings.slowConsumers();
        badLines = new BadLines(connection, surroundings);
    }

    @Override
    public String pipe() {
        PipeName name = asked;
        return name == null ? "none" : name.value();
    }

    @Override
    public void line(String text) {
        sign();
        try {
            Line line = LineCodec.decode(text);
            if (line instanceof Line.Bind bind) {
                bind(bind.pipe(), text);
            } else if (line instanceof Line.Ack ack) {
                ack(ack.id());
            } else if (line instanceof Line.Nack nack) {
                nack(nack.id());
            }
        } catch (ProtocolException e) {
            malformed(e.reason(), text);
        }
    }

    /** Dialect 1 has no binary frames from consumers. */
    @Override
    public void binary(byte[] frame) {
        sign();
        malformed("a binary frame of " + frame.length + " bytes", "");
    }

    @Override
    public void pong(byte[] payload) {
        ConsumerLink pipe = currentLink();
        if (pipe != null) {
            pipe.life(Arrays.equals(payload, probe));
        }
    }

    @Override
    public void sign() {
        ConsumerLink pipe = currentLink();
        if (pipe != null) {
            pipe.life(false);
        }
    }

    private @Nullable ConsumerLink currentLink() {
        synchronized (lock) {
            return link;
        }
    }

    private void bind(PipeName name, String line) {
        if (asked != null) {
            malformed("a second BIND on one connection", line);
            return;
        }
        asked = name;
        SlowConsumers.Refusal early = slowConsumers.refusal(name, connection.host(), connection.nowNanos());
        if (early.waitNanos() > 0) {
            refuse(
                    TOO_EARLY,
                    "cut off as a slow consumer " + early.cuts() + " times; bind again in "
                            + (early.waitNanos() / NANOS_PER_SECOND + 1) + " s");
            return;
        }
        ConsumerLink given;
        boolean over;
        try {
            Pipe pipe = pipes.apply(name);
            // bound() waits here until there is a link: acks of before the BIND go ahead of the first event
            synchronized (lock) {
                state = State.ASKING;
                given = pipe.bind(this, BindOptions.DIALECT_1);
                link = given;
                over = closed;
                if (state == State.BOUND) {
                    applyEarlyAcks(given);
                }
                given.written(out.writtenBytes()); // what was written before there was a link
                if (roomMissed) {
                    given.writable();
                }
            }
        } catch (RelayException e) {
            bindFailed(name, e);
            return;
        }
        if (over) {
            given.gone();
        }
    }

    private void bindFailed(PipeName name, RelayException e) {
        synchronized (lock) {
            state = State.UNBOUND;
        }
        asked = null;
        events.bindFailed();
        log.line(Level.WARN, "consumer could not be bound: peer={}, pipe={}; {}", connection.peer(), name, e.reason());
    }

    private void ack(long id) {
        boolean dropped = false;
        synchronized (lock) {
            if (state == State.BOUND && link != null) {
                link.ack(id, id);
            } else if (state != State.REFUSED && !closed && earlyAcks.size() < MAX_EARLY_ACKS) {
                earlyAcks.add(id);
            } else {
                dropped = true;
            }
        }
        if (dropped) {
            events.earlyAnswerDropped();
        }
    }

    private void nack(long id) {
        ConsumerLink pipe = currentLink();
        if (pipe == null) {
            events.earlyAnswerDropped(); // it cannot hold an event yet
        } else {
            pipe.nack(id, ConsumerLink.BACKOFF, "");
        }
    }

    private void applyEarlyAcks(ConsumerLink pipe) {
        earlyAcks.forEach(id -> pipe.ack(id, id));
        earlyAcks.clear();
    }

    private void dropEarlyAcks() {
        earlyAcks.forEach(id -> events.earlyAnswerDropped());
        earlyAcks.clear();
    }

    private void malformed(String what, String text) {
        badLines.add(what, text, pipe());
    }

    @Override
    public void written(long bytesSoFar) {
        ConsumerLink pipe = currentLink();
        if (pipe != null) {
            pipe.written(bytesSoFar);
        }
    }

    @Override
    public void roomAgain() {
        synchronized (lock) {
            if (link == null) {
                roomMissed = true;
            } else {
                link.writable();
            }
        }
    }

    @Override
    public void cutAsSlow() {
        PipeName name = asked;
        if (name != null) {
            slowConsumers.cut(name, connection.host(), connection.nowNanos());
        }
    }

    /** The pipe is told once. */
    @Override
    public void closed() {
        ConsumerLink pipe;
        synchronized (lock) {
            if (closed) {
                return;
            }
            closed = true;
            pipe = link;
            dropEarlyAcks();
        }
        if (pipe != null) {
            pipe.gone();
        }
    }

    @Override
    public String peer() {
        return connection.peer();
    }

    @Override
    public void bound(@Nullable Bound answer) {
        out.control(FrameCodec.text(LineCodec.READY));
        synchronized (lock) {
            state = State.BOUND;
            if (link != null) {
                applyEarlyAcks(link);
            }
        }
    }

    @Override
    public void refused(RelayException why) {
        if (why.code() == ErrorCode.PIPE_BUSY) {
            refuse(PIPE_BUSY, "Too many connections.");
        } else if (why.code() == ErrorCode.NO_SUCH_PIPE) {
            refuse(Answers.GONE, "pipe deleted");
        } else {
            refuse(PIPE_BUSY, why.reason());
        }
    }

    private void refuse(int code, String reason) {
        synchronized (lock) {
            state = State.REFUSED;
            dropEarlyAcks();
        }
        out.control(FrameCodec.text(LineCodec.ERROR));
        connection.close(code, reason);
    }

    @Override
    public void probe() {
        byte[] payload = ("probe-" + ++probes).getBytes(StandardCharsets.US_ASCII);
        probe = payload;
        out.control(FrameCodec.ping(payload));
    }

    @Override
    public void takenOver() {
        connection.close(TAKEN_OVER, "taken over");
    }

    @Override
    public void unbound() {}

    @Override
    public void ended() {}

    @Override
    public void acked(long[] firstIds, long[] lastIds) {}

    @Override
    public boolean writable() {
        return out.writable();
    }

    @Override
    public long deliver(long id, long appendedAtMillis, int delivery, ByteBuffer payload, Map<String, String> headers) {
        return out.event(id, payload);
    }

    @Override
    public void flush() {
        out.flush();
    }

    @Override
    public long writtenBytes() {
        return out.writtenBytes();
    }

    @Override
    public long lastWriteNanos() {
        return connection.lastWriteNanos();
    }
}
