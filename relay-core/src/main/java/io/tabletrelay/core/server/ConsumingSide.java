package io.tabletrelay.core.server;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.delivery.BindOptions;
import io.tabletrelay.core.delivery.BindOptions.Start;
import io.tabletrelay.core.delivery.Bound;
import io.tabletrelay.core.delivery.DeliverySink;
import io.tabletrelay.core.pipe.ConsumerLink;
import io.tabletrelay.core.pipe.Pipe;
import io.tabletrelay.core.protocol.BatchFrame;
import io.tabletrelay.core.protocol.Command;
import io.tabletrelay.core.protocol.FrameCodec;
import io.tabletrelay.core.protocol.ServerLines;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One BIND of a connection of dialect 2, from when it was asked for until it is refused, unbound or the connection ends.
 *
 * <p>Threading: created and asked by the connection's worker thread, told by the pipe's transfer thread, ended by any; what
 * they share is guarded by a lock under which nothing waits.
 */
final class ConsumingSide implements DeliverySink {
    private final Connection connection;
    private final SendBuffer out;
    private final Answers answers;
    private final Command.Bind asked;

    private final Object lock = new Object();
    private @Nullable ConsumerLink link;
    private boolean over;
    private boolean closed;
    private boolean roomMissed;
    private boolean unbindAsked;

    private volatile byte @Nullable [] probe;
    private long probes;

    ConsumingSide(Connection connection, SendBuffer out, Answers answers, Command.Bind asked) {
        this.connection = connection;
        this.out = out;
        this.answers = answers;
        this.asked = asked;
    }

    Command.Bind asked() {
        return asked;
    }

    /** Asks the pipe, which answers now or later. */
    void bind(Pipe pipe) {
        ConsumerLink given;
        try {
            given = pipe.bind(this, options());
        } catch (RelayException e) {
            refused(e);
            return;
        }
        boolean gone;
        synchronized (lock) {
            link = given;
            gone = closed;
            given.written(out.writtenBytes()); // what was written before there was a link
            if (roomMissed) {
                given.writable();
            }
        }
        if (gone) {
            given.gone();
        }
    }

    private BindOptions options() {
        Command.From from = asked.from();
        Start start;
        if (from instanceof Command.From.Id id) {
            start = new Start.AtId(id.id());
        } else if (from instanceof Command.From.Time time) {
            start = new Start.AtTime(time.time());
        } else {
            start = from instanceof Command.From.Latest ? new Start.Latest() : new Start.Earliest();
        }
        BindOptions.Mode mode = switch (asked.mode()) {
            case EXCLUSIVE -> BindOptions.Mode.EXCLUSIVE;
            case TAKEOVER -> BindOptions.Mode.TAKEOVER;
            case STANDBY -> BindOptions.Mode.STANDBY;
            case SHARED -> BindOptions.Mode.SHARED;
        };
        return new BindOptions(
                BindOptions.Dialect.TWO,
                asked.subscription(),
                start,
                asked.windowEvents(),
                asked.windowBytes(),
                asked.batchEvents(),
                asked.strict(),
                mode,
                asked.headers(),
                asked.confirmAcks());
    }

    /** Where answers go; null if this one was refused, or not asked for at all because of a fault. */
    @Nullable
    ConsumerLink link() {
        synchronized (lock) {
            return link;
        }
    }

    /** True once another BIND may come: this one was refused, or unbound. */
    boolean isOver() {
        synchronized (lock) {
            return over;
        }
    }

    /** False if it had been asked for before, or is over. */
    boolean unbind() {
        ConsumerLink pipe;
        synchronized (lock) {
            pipe = link;
            if (pipe == null || over || unbindAsked) {
                return false;
            }
            unbindAsked = true;
        }
        pipe.unbind();
        return true;
    }

    void life(byte @Nullable [] pong) {
        ConsumerLink pipe = link();
        if (pipe != null) {
            pipe.life(pong != null && Arrays.equals(pong, probe));
        }
    }

    void written(long bytesSoFar) {
        ConsumerLink pipe = link();
        if (pipe != null) {
            pipe.written(bytesSoFar);
        }
    }

    void roomAgain() {
        synchronized (lock) {
            if (link == null) {
                roomMissed = true;
            } else {
                link.writable();
            }
        }
    }

    /** Nothing gets out any more, and nothing comes in. The pipe is told once. */
    void closed() {
        ConsumerLink pipe;
        synchronized (lock) {
            if (closed) {
                return;
            }
            closed = true;
            pipe = link;
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
        Map<String, Object> said = new LinkedHashMap<>();
        said.put("pipe", asked.pipe().value());
        said.put("subscription", asked.subscription());
        if (answer != null) {
            said.put("epoch", answer.epoch());
            said.put("next", answer.nextId());
            said.put("backlog", answer.backlogEvents());
            said.put("contentType", answer.contentType());
            said.put("window", answer.windowEvents());
            said.put("order", answer.strict() ? "strict" : "relaxed");
            said.put("durability", answer.durability().word());
        }
        answers.say(ServerLines.ready(said));
    }

    @Override
    public void refused(RelayException why) {
        synchronized (lock) {
            over = true;
        }
        if (why.code() == ErrorCode.NO_SUCH_PIPE) { // it was there when it was asked for
            answers.error(why);
            connection.close(Answers.GONE, "pipe deleted");
        } else {
            answers.refused(why);
        }
    }

    @Override
    public void probe() {
        byte[] payload = ("probe-" + ++probes).getBytes(StandardCharsets.US_ASCII);
        probe = payload;
        out.control(FrameCodec.ping(payload));
    }

    @Override
    public void takenOver() {
        connection.close(Answers.TAKEN_OVER, "taken over");
    }

    @Override
    public void unbound() {
        synchronized (lock) {
            over = true;
        }
        answers.say(ServerLines.UNBOUND);
    }

    @Override
    public void ended() {
        answers.say(ServerLines.END);
    }

    @Override
    public void acked(long[] firstIds, long[] lastIds) {
        answers.say(ServerLines.acked(firstIds, lastIds));
    }

    @Override
    public boolean writable() {
        return out.writable();
    }

    @Override
    public long deliver(long id, long appendedAtMillis, int delivery, ByteBuffer payload, Map<String, String> headers) {
        byte[] block = BatchFrame.headers(asked.headers() ? headers : Map.of());
        return out.record(id, appendedAtMillis, delivery, block, payload, asked.batchEvents());
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
