package io.tabletrelay.core.server;

import io.tabletrelay.api.PipeName;
import io.tabletrelay.core.config.ServerConfig;
import io.tabletrelay.core.pipe.Pipe;
import io.tabletrelay.core.protocol.FrameCodec;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.java_websocket.framing.CloseFrame;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * One accepted socket, from accept to close: frames, pings, close handshakes. What the frames mean is its session's
 * business.
 *
 * <p>Four ways to end it: {@link #close} says why and goes on reading until the peer has answered; {@link #breakOff}
 * does so ahead of what the peer did not take; {@link #refuse} says why, reads no more and ends our side; {@link #cut}
 * closes the socket.
 *
 * <p>Threading: created by the selector thread; frames come from one worker thread, ticks from the timer thread, closes
 * from any thread.
 */
final class Connection implements EdgeChannel.Listener {
    private static final Logger LOG = LoggerFactory.getLogger(Connection.class);
    private static final int SLOW_CONSUMER = 4008;
    private static final int MAX_PINGS = 20;
    private static final long PING_SPAN_NANOS = 1_000_000_000L;
    private static final byte[] HEARTBEAT = new byte[0];

    /** What all connections of a server share. */
    record Surroundings(
            ServerConfig config,
            Function<PipeName, Pipe> pipes,
            EdgeEvents events,
            LongSupplier nanoTime,
            ClientLog log,
            SlowConsumers slowConsumers,
            EventIntake intake,
            Producers producers,
            Executor answers) {}

    private final Surroundings surroundings;
    private final SocketChannel socketChannel;
    private final EdgeSocket socket;
    private final EdgeDraft draft;
    private final EdgeChannel channel;
    private final Consumer<Connection> onEnd;
    private final SendBuffer out;
    private final Runnable reportWritten = this::reportWritten;
    private volatile Session session;
    private final PeerWatch watch;
    private final long acceptedNanos;
    private final Object lifeLock = new Object();
    private boolean over;
    private volatile boolean opened;
    private volatile boolean closing;
    private volatile long closingNanos;
    private volatile boolean deaf;
    private volatile long lifeNanos;
    private volatile long lastWriteNanos;
    private long pingSpanNanos;
    private int pings;

    Connection(
            Surroundings surroundings,
            SocketChannel socketChannel,
            SelectionKey key,
            EdgeSocket socket,
            Consumer<Connection> onEnd) {
        this.surroundings = surroundings;
        this.socketChannel = socketChannel;
        this.socket = socket;
        this.draft = socket.edgeDraft();
        this.onEnd = onEnd;
        acceptedNanos = surroundings.nanoTime().getAsLong();
        lifeNanos = acceptedNanos;
        lastWriteNanos = acceptedNanos;
        channel = new EdgeChannel(socketChannel, key, socket, draft, this);
        out = new SendBuffer(
                socket.outQueue,
                () -> socket.getWebSocketListener().onWriteDemand(socket),
                surroundings.config().maxUnsentBytes());
        session = new ConsumerSession(this, out, surroundings);
        watch = new PeerWatch(surroundings.config(), acceptedNanos);
    }

    EdgeChannel channel() {
        return channel;
    }

    long unsentBytes() {
        return out.unsentBytes();
    }

    long lastWriteNanos() {
        return lastWriteNanos;
    }

    /** Address and port, never a name: that would ask a name server. */
    String peer() {
        InetSocketAddress address = address();
        return address == null ? "unknown" : address.getHostString() + ":" + address.getPort();
    }

    /** The peer's address without the port. */
    String host() {
        InetSocketAddress address = address();
        return address == null ? "unknown" : address.getHostString();
    }

    private @Nullable InetSocketAddress address() {
        try {
            return socketChannel.getRemoteAddress() instanceof InetSocketAddress address ? address : null;
        } catch (IOException e) {
            return null;
        }
    }

    long nowNanos() {
        return surroundings.nanoTime().getAsLong();
    }

    /** The handshake is done. */
    void opened() {
        out.givenBefore(draft.answerBytes());
        lifeNanos = surroundings.nanoTime().getAsLong();
        synchronized (lifeLock) {
            if (over) {
                return;
            }
            if (draft.dialect2()) {
                session = new Dialect2Session(this, out, surroundings);
            }
            opened = true;
            surroundings.events().connected();
        }
    }

    /** Messages of this many bytes are taken from now on; called by the worker thread. */
    void takeMessages(int maxBytes) {
        draft.takeMessages(maxBytes);
    }

    /** True from the end of the handshake on. */
    boolean isWebSocket() {
        return opened;
    }

    /** True once a close frame was sent or is on its way. */
    boolean isClosing() {
        return closing;
    }

    void frame(ClientFrame frame) {
        if (deaf) {
            return;
        }
        try {
            take(frame);
        } catch (Throwable t) { // errors too
            failed(t);
        }
    }

    private void take(ClientFrame frame) {
        if (frame.violation() != 0) {
            refuse(frame.violation(), frame.complaint());
            return;
        }
        switch (frame.getOpcode()) {
            case TEXT -> takeText(frame.payload());
            case BINARY -> session.binary(frame.payload());
            case PING -> takePing(frame.payload());
            case PONG -> session.pong(frame.payload());
            default -> takeClose(frame.payload());
        }
    }

    private void takeText(byte[] utf8) {
        String line;
        try {
            line = isAscii(utf8)
                    ? new String(utf8, StandardCharsets.ISO_8859_1)
                    : StandardCharsets.UTF_8
                            .newDecoder()
                            .decode(ByteBuffer.wrap(utf8))
                            .toString();
        } catch (CharacterCodingException e) {
            refuse(CloseFrame.NO_UTF8, "text is not UTF-8");
            return;
        }
        session.line(line);
    }

    private static boolean isAscii(byte[] text) {
        int all = 0;
        for (byte each : text) {
            all |= each;
        }
        return all >= 0;
    }

    private void takePing(byte[] payload) {
        session.sign();
        long now = surroundings.nanoTime().getAsLong();
        if (now - pingSpanNanos > PING_SPAN_NANOS) {
            pingSpanNanos = now;
            pings = 0;
        }
        if (++pings > MAX_PINGS) {
            refuse(CloseFrame.POLICY_VALIDATION, "too many pings");
        } else {
            out.control(FrameCodec.pong(payload));
        }
    }

    private void takeClose(byte[] payload) {
        deaf = true;
        PeerClose close = PeerClose.of(payload);
        startClosing();
        out.end(FrameCodec.close(close.answerCode(), ""));
        socket.flushAndClose(close.answerCode(), close.reason(), true);
    }

    /** Sends a close frame and goes on reading, so that acks on their way still count; the peer's answer ends it. */
    void close(int code, String reason) {
        startClosing();
        out.end(FrameCodec.close(code, reason));
    }

    /** Sends a close frame and ends our side: the peer sees both, even while it still sends what nobody will read. */
    private void refuse(int code, String reason) {
        LOG.debug("connection refused: peer={}, code={}; {}", peer(), code, reason);
        deaf = true;
        startClosing();
        channel.endOutput();
        if (!out.end(FrameCodec.close(code, reason))) {
            cut(code, reason);
        }
    }

    private void startClosing() {
        if (!closing) {
            closingNanos = surroundings.nanoTime().getAsLong();
            closing = true;
        }
    }

    /** Closes the socket. The code is for the log: it can no longer be told. */
    void cut(int code, String reason) {
        LOG.debug("connection cut: peer={}, code={}; {}", peer(), code, reason);
        socket.closeConnection(CloseFrame.ABNORMAL_CLOSE, reason, false);
    }

    /** Something was thrown where it could not be answered: this connection ends, the others do not notice. */
    void failed(Throwable thrown) {
        surroundings
                .log()
                .fault("connection ends by a fault of the relay: peer={}, pipe={}", peer(), session.pipe(), thrown);
        if (opened) {
            refuse(CloseFrame.UNEXPECTED_CONDITION, "internal error");
        } else {
            cut(CloseFrame.UNEXPECTED_CONDITION, "internal error");
        }
    }

    /** A moment of the timer. */
    void tick(long nowNanos) {
        boolean handshaking = !opened || closing;
        PeerWatch.Signs signs = new PeerWatch.Signs(
                handshaking, closing ? closingNanos : acceptedNanos, lifeNanos, out.unsentBytes(), out.writtenBytes());
        switch (watch.judge(signs, nowNanos)) {
            case LEAVE -> {}
            case PING -> out.control(FrameCodec.ping(HEARTBEAT));
            case HANDSHAKE_OVERDUE -> cut(CloseFrame.ABNORMAL_CLOSE, "handshake overdue");
            case SILENT -> {
                surroundings.events().silentPeerCut();
                surroundings.log().line(Level.INFO, "silent peer cut off: peer={}, pipe={}", peer(), session.pipe());
                cut(CloseFrame.ABNORMAL_CLOSE, "silent");
            }
            case SLOW -> breakOff(signs.unsentBytes());
        }
    }

    /** It asks for more answers than it takes. */
    void drownedInAnswers() {
        deaf = true;
        breakOff(out.unsentBytes());
    }

    /** Its pipe has its events back at once; the peer is told why if it reads on before it is cut. */
    private void breakOff(long unsentBytes) {
        surroundings.events().slowConsumerCut();
        surroundings
                .log()
                .line(
                        Level.WARN,
                        "slow consumer cut off: peer={}, pipe={}, unsentBytes={}; it takes none of them",
                        peer(),
                        session.pipe(),
                        unsentBytes);
        session.cutAsSlow();
        startClosing();
        out.drop();
        channel.breakOff(FrameCodec.close(SLOW_CONSUMER, "slow consumer"));
        session.closed();
    }

    @Override
    public void bytesRead() {
        lifeNanos = surroundings.nanoTime().getAsLong();
    }

    @Override
    public void bytesWritten(int bytes, boolean drained) {
        long now = surroundings.nanoTime().getAsLong();
        lastWriteNanos = now;
        if (drained) {
            lifeNanos = now;
        }
        boolean roomAgain = out.written(bytes);
        contained(reportWritten);
        if (roomAgain) {
            contained(() -> session.roomAgain());
        }
    }

    @Override
    public void ended() {
        out.drop();
        synchronized (lifeLock) {
            over = true;
        }
        contained(() -> session.closed());
        synchronized (lifeLock) {
            if (opened) {
                contained(surroundings.events()::disconnected);
            }
        }
        onEnd.accept(this);
    }

    private void reportWritten() {
        session.written(out.writtenBytes());
    }

    /** For what runs on the selector thread, which nothing thrown may reach. */
    private void contained(Runnable call) {
        try {
            call.run();
        } catch (Throwable t) { // errors too
            surroundings
                    .log()
                    .fault(
                            "what became of a connection could not be told: peer={}, pipe={}",
                            peer(),
                            session.pipe(),
                            t);
        }
    }
}
