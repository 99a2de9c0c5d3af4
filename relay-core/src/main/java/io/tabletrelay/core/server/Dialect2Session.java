package io.tabletrelay.core.server;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.pipe.ConsumerLink;
import io.tabletrelay.core.pipe.Pipe;
import io.tabletrelay.core.protocol.Command;
import io.tabletrelay.core.protocol.CommandCodec;
import io.tabletrelay.core.protocol.IdRanges;
import io.tabletrelay.core.protocol.ProtocolException;
import org.jspecify.annotations.Nullable;

/**
 * One connection of dialect 2: it consumes, publishes, or both.
 *
 * <p>What means nothing is answered with an ERROR line and counted, and changes nothing: the connection stays.
 *
 * <p>Threading: lines and frames come from one worker thread, the rest from any; the two sides guard themselves.
 */
final class Dialect2Session implements Session {
    private static final long NANOS_PER_SECOND = 1_000_000_000L;

    private final Connection connection;
    private final SendBuffer out;
    private final Connection.Surroundings surroundings;
    private final Answers answers;
    private final BadLines badLines;
    private final CommandCodec codec = new CommandCodec();

    private volatile @Nullable ConsumingSide consuming;
    private volatile @Nullable ProducingSide producing;
    private volatile boolean closed;

    Dialect2Session(Connection connection, SendBuffer out, Connection.Surroundings surroundings) {
        this.connection = connection;
        this.out = out;
        this.surroundings = surroundings;
        answers = new Answers(connection, out, surroundings.events());
        badLines = new BadLines(connection, surroundings);
    }

    @Override
    public String pipe() {
        ConsumingSide consumer = consuming;
        if (consumer != null) {
            return consumer.asked().pipe().value();
        }
        ProducingSide producer = producing;
        return producer == null ? "none" : producer.pipe().value();
    }

    @Override
    public void line(String text) {
        sign();
        try {
            Command command = codec.decode(text);
            if (command instanceof Command.Acks acks) {
                ack(acks.ids());
            } else {
                obey(command);
            }
        } catch (ProtocolException e) {
            bad(new RelayException(e.code(), e.reason()), text);
        } catch (RelayException e) {
            bad(e, text);
        }
    }

    private void ack(IdRanges ids) {
        ConsumerLink link = link();
        for (int i = 0; i < ids.size(); i++) {
            link.ack(ids.firstId(i), ids.lastId(i));
        }
    }

    private void obey(Command command) {
        if (command instanceof Command.AckUpTo ack) {
            link().ackUpTo(ack.id());
        } else if (command instanceof Command.Nack nack) {
            link().nack(nack.id(), nack.delayMillis(), nack.reason());
        } else if (command instanceof Command.Term term) {
            link().term(term.id(), term.reason());
        } else if (command instanceof Command.Hold hold) {
            link().hold(hold.id());
        } else if (command instanceof Command.Window window) {
            link().window(window.events());
        } else if (command instanceof Command.Bind bind) {
            bind(bind);
        } else if (command instanceof Command.Unbind) {
            ConsumingSide side = consuming;
            if (side == null || !side.unbind()) {
                throw badLine("no pipe is bound");
            }
        } else if (command instanceof Command.Publish publish) {
            publish(publish);
        } else if (command instanceof Command.Finish) {
            producer().finish();
        }
        // a token is taken and means nothing: every client has all rights
    }

    /** Where answers about events go: an early one, before a BIND, cannot mean anything here. */
    private ConsumerLink link() {
        ConsumingSide side = consuming;
        ConsumerLink link = side == null ? null : side.link();
        if (link == null) {
            throw badLine("no pipe is bound");
        }
        return link;
    }

    private ProducingSide producer() {
        ProducingSide side = producing;
        if (side == null || side.isOver()) {
            throw badLine("nothing is being published");
        }
        return side;
    }

    private static RelayException badLine(String what) {
        return new RelayException(ErrorCode.BAD_LINE, what);
    }

    /** A bad BIND or PUBLISH counts as a refused one as well. */
    private void bad(RelayException why, String text) {
        badLines.add(why.reason(), text, pipe());
        if (text.startsWith("BIND") || text.startsWith("PUBLISH")) {
            answers.refused(why);
        } else {
            answers.error(why);
        }
    }

    private void bind(Command.Bind asked) {
        ConsumingSide before = consuming;
        if (before != null && !before.isOver()) {
            throw badLine("a second BIND before the first one was unbound");
        }
        if (isTooEarly(asked.pipe())) {
            return;
        }
        Pipe pipe = pipe(asked.pipe());
        if (pipe == null) {
            return;
        }
        ConsumingSide side = new ConsumingSide(connection, out, answers, asked);
        if (before != null) {
            before.closed();
        }
        consuming = side;
        if (closed) {
            return;
        }
        side.bind(pipe);
    }

    /** One that was cut off as a slow consumer again and again must wait. */
    private boolean isTooEarly(PipeName name) {
        SlowConsumers.Refusal early =
                surroundings.slowConsumers().refusal(name, connection.host(), connection.nowNanos());
        if (early.waitNanos() <= 0) {
            return false;
        }
        String why = "cut off as a slow consumer " + early.cuts() + " times; bind again in "
                + (early.waitNanos() / NANOS_PER_SECOND + 1) + " s";
        answers.error(ErrorCode.BUSY, why);
        connection.close(Answers.TOO_MUCH, why);
        return true;
    }

    /** Null if there can be none: the client was told why. */
    private @Nullable Pipe pipe(PipeName name) {
        try {
            return surroundings.pipes().apply(name);
        } catch (RelayException e) {
            answers.refused(e);
            return null;
        }
    }

    private void publish(Command.Publish asked) {
        ProducingSide before = producing;
        if (before != null && !before.isOver()) {
            throw badLine("a second PUBLISH on one connection");
        }
        String type = asked.type();
        if (type == null || !surroundings.intake().sourceTypes().contains(type)) {
            answers.refused(new RelayException(
                    type == null ? ErrorCode.BAD_OPTION : ErrorCode.NO_SERIALIZER,
                    "no source type: name=type, value=" + type + ", allowed="
                            + surroundings.intake().sourceTypes()));
            return;
        }
        Pipe pipe = pipe(asked.pipe());
        if (pipe == null) {
            return;
        }
        ProducingSide side = new ProducingSide(connection, answers, surroundings, pipe, asked, type);
        producing = side;
        if (!closed) {
            side.open();
        }
    }

    @Override
    public void binary(byte[] frame) {
        sign();
        ProducingSide side = producing;
        try {
            if (side == null) {
                throw badLine("a binary frame without a PUBLISH");
            }
            side.frame(frame);
        } catch (ProtocolException e) {
            bad(new RelayException(e.code(), e.reason()), "");
        } catch (RelayException e) {
            bad(e, "");
        }
    }

    @Override
    public void pong(byte[] payload) {
        ConsumingSide side = consuming;
        if (side != null) {
            side.life(payload);
        }
    }

    @Override
    public void sign() {
        ConsumingSide side = consuming;
        if (side != null) {
            side.life(null);
        }
    }

    @Override
    public void written(long bytesSoFar) {
        ConsumingSide side = consuming;
        if (side != null) {
            side.written(bytesSoFar);
        }
    }

    @Override
    public void roomAgain() {
        ConsumingSide side = consuming;
        if (side != null) {
            side.roomAgain();
        }
    }

    @Override
    public void cutAsSlow() {
        ConsumingSide side = consuming;
        if (side != null) {
            surroundings.slowConsumers().cut(side.asked().pipe(), connection.host(), connection.nowNanos());
        }
    }

    @Override
    public void closed() {
        closed = true;
        ConsumingSide consumer = consuming;
        if (consumer != null) {
            consumer.closed();
        }
        ProducingSide producer = producing;
        if (producer != null) {
            producer.closed();
        }
    }
}
