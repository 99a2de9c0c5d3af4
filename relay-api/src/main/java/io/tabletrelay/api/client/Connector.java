package io.tabletrelay.api.client;

import io.tabletrelay.api.RelayException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocketHandshakeException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a client connected: connects, watches for silence, and connects again until the end is for good.
 *
 * <p>Threading: confined to the client's loop, but for {@link #start} and {@link #loop}.
 */
final class Connector {
    static final String SUBPROTOCOL = "tablet-relay.v2";

    private static final Logger LOG = System.getLogger(Connector.class.getName());
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

    private final URI address;
    private final HttpClient http;
    private final Duration longestSilence;
    private final Side side;
    private final ClientLoop loop;
    private final Backoff backoff =
            new Backoff(upTo -> ThreadLocalRandom.current().nextLong(upTo + 1));
    private @Nullable Link link;
    private boolean open;
    private boolean closing;
    private boolean ended;
    private @Nullable RelayException refusal;

    Connector(String name, URI address, HttpClient http, Duration longestSilence, Side side) {
        this.address = address;
        this.http = http;
        this.longestSilence = longestSilence;
        this.side = side;
        this.loop = new ClientLoop(name, this::failed);
    }

    /** What is said on the connection; called on the loop. */
    interface Side {
        /** The first line on every connection. */
        String hello();

        void line(String line);

        void frame(ByteBuffer frame);

        /** The connection is gone. */
        void lost();

        /** What goes out next; null: nothing for now. {@link Connector#pump} asks again. */
        @Nullable
        Outgoing next();

        /** No connection will follow. Null: as was asked for. */
        void ended(@Nullable RelayClosedException why);
    }

    ClientLoop loop() {
        return loop;
    }

    void start() {
        loop.run(this::connect);
    }

    private void connect() {
        if (ended) {
            return;
        }
        Link fresh = new Link(this);
        link = fresh;
        refusal = null;
        var unused = http.newWebSocketBuilder()
                .subprotocols(SUBPROTOCOL)
                .connectTimeout(CONNECT_TIMEOUT)
                .buildAsync(address, fresh)
                .whenComplete((socket, e) -> {
                    if (e != null) {
                        loop.run(() -> notConnected(fresh, e));
                    }
                });
    }

    private void notConnected(Link which, Throwable e) {
        Throwable cause = e instanceof CompletionException && e.getCause() != null ? e.getCause() : e;
        if (cause instanceof WebSocketHandshakeException refused && isForGood(refused)) {
            String status = "HTTP status " + refused.getResponse().statusCode() + " to the handshake";
            end(new RelayClosedException(CloseCode.ABNORMAL, status, null));
        } else {
            over(which, CloseCode.ABNORMAL, cause.toString());
        }
    }

    /** The request is wrong, not the moment. */
    private static boolean isForGood(WebSocketHandshakeException refused) {
        int status = refused.getResponse().statusCode();
        return status >= 400 && status < 500 && status != 408 && status != 429;
    }

    void opened(Link which, String subprotocol) {
        if (which != link) {
            which.abort();
        } else if (!subprotocol.equals(SUBPROTOCOL)) {
            end(new RelayClosedException(
                    CloseCode.ABNORMAL, "the server does not speak " + SUBPROTOCOL + "; is it a relay?", null));
        } else {
            open = true;
            which.send(new Outgoing.Line(side.hello()));
            watch(which);
            pump();
        }
    }

    private void watch(Link which) {
        if (which != link) {
            return;
        }
        long leftNanos = longestSilence.toNanos() - (System.nanoTime() - which.heardNanos());
        if (leftNanos <= 0) {
            over(which, CloseCode.ABNORMAL, "nothing was heard for " + longestSilence.toMillis() + " ms");
        } else {
            loop.after(Duration.ofNanos(leftNanos), () -> watch(which));
        }
    }

    void line(Link which, String line) {
        if (which != link) {
            return;
        }
        try {
            side.line(line);
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            reconnect("a line cannot be read: " + e);
        }
        pump();
    }

    void frame(Link which, ByteBuffer frame) {
        if (which == link) {
            side.frame(frame);
            pump();
        }
    }

    /** Sends as long as there is something and the connection takes it. */
    void pump() {
        Link to = link;
        while (to != null && to == link && open && !closing && to.canSend()) {
            Outgoing next = side.next();
            if (next == null) {
                return;
            }
            to.send(next);
        }
    }

    /** The relay has accepted the first line. */
    void ready() {
        backoff.reset();
    }

    /** What an ERROR line said: the reason of the close that may follow. */
    void refused(RelayException why) {
        refusal = why;
    }

    @Nullable
    RelayException refusal() {
        return refusal;
    }

    /** Gives the connection up and makes another. */
    void reconnect(String reason) {
        if (link != null) {
            over(link, CloseCode.ABNORMAL, reason);
        }
    }

    void over(Link which, int code, String reason) {
        if (which != link || ended) {
            return;
        }
        drop();
        if (closing) {
            end(null);
        } else if (CloseCode.endsForGood(code)) {
            end(new RelayClosedException(code, reason, refusal));
        } else {
            side.lost();
            Duration delay = CloseCode.asksForPatience(code) ? backoff.later() : backoff.next();
            LOG.log(
                    Level.INFO,
                    "connection lost: relay={0}, closeCode={1}, reason={2}, error={3}; connecting again in {4} ms",
                    address,
                    String.valueOf(code),
                    reason,
                    refusal == null ? "none" : refusal.reason(),
                    String.valueOf(delay.toMillis()));
            loop.after(delay, this::connect);
        }
    }

    private void drop() {
        if (link != null) {
            link.abort();
        }
        link = null;
        open = false;
    }

    /** Ends the connection, if there is one, with 1000, and then the client. */
    void close() {
        Link last = link;
        if (last == null || !open) {
            end(null);
        } else if (!closing) {
            closing = true;
            last.close();
            loop.after(CLOSE_TIMEOUT, () -> end(null));
        }
    }

    /** As {@link #close}, for who does not wait: the close frame may be lost. */
    void closeNow() {
        if (link != null && open && !closing) {
            link.close();
        }
        end(null);
    }

    /** Ends the client. */
    void end(@Nullable RelayClosedException why) {
        if (ended) {
            return;
        }
        ended = true;
        drop();
        side.ended(why);
        loop.stop();
    }

    private void failed(Throwable e) {
        LOG.log(Level.ERROR, "client ended by a fault of its own: relay=" + address, e);
        RelayClosedException why = new RelayClosedException(CloseCode.ABNORMAL, "a fault of the client: " + e, refusal);
        why.addSuppressed(e);
        end(why);
    }
}
