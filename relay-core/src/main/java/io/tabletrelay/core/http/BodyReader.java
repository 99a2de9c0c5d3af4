package io.tabletrelay.core.http;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpHeaderValue;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.util.Callback;

/**
 * Reads one request's body as it comes, never holding a thread, and no more than it may have.
 *
 * <p>A body that is too large is answered at once; what the client still sends is thrown away for a while, so that it
 * gets to read the answer.
 *
 * <p>Threading: used by one HTTP thread at a time, as the HTTP server calls it.
 */
final class BodyReader implements Runnable {
    private static final int FIRST_BYTES = 4 << 10;

    private final Exchange exchange;
    private final Request request;
    private final int maxBytes;
    private final Budget budget;
    private final Consumer<ByteBuffer> whenRead;
    private byte[] bytes = new byte[0];
    private int length;
    private boolean refused;
    private long discardedBytes;

    private BodyReader(Exchange exchange, int maxBytes, Budget budget, Consumer<ByteBuffer> whenRead) {
        this.exchange = exchange;
        this.request = exchange.request();
        this.maxBytes = maxBytes;
        this.budget = budget;
        this.whenRead = whenRead;
    }

    /**
     * Reads the body and hands it over, or answers the exchange with what went wrong.
     *
     * @param budget what all bodies being read may have together; the body's bytes are given back once it is handed over
     */
    static void read(Exchange exchange, int maxBytes, Budget budget, Consumer<ByteBuffer> whenRead) {
        BodyReader reader = new BodyReader(exchange, maxBytes, budget, whenRead);
        if (exchange.request().getHeaders().getLongField(HttpHeader.CONTENT_LENGTH) > maxBytes) {
            reader.refuse(tooLarge(maxBytes));
        } else {
            reader.run();
        }
    }

    @Override
    public void run() {
        boolean more = true;
        while (more) {
            Content.Chunk chunk = request.read();
            if (chunk == null) {
                request.demand(this);
                return;
            }
            if (Content.Chunk.isFailure(chunk)) {
                broken(chunk);
                return;
            }
            try {
                more = refused ? discard(chunk) : take(chunk);
            } finally {
                chunk.release();
            }
        }
    }

    /** Returns whether to go on. */
    private boolean discard(Content.Chunk chunk) {
        discardedBytes += chunk.remaining();
        boolean enough = chunk.isLast() || discardedBytes > maxBytes;
        if (enough) {
            exchange.callback().succeeded();
        }
        return !enough;
    }

    /** Returns whether to go on. */
    private boolean take(Content.Chunk chunk) {
        int more = chunk.remaining();
        if (more > maxBytes - length) {
            refuse(tooLarge(maxBytes));
            return false;
        }
        if (!makeRoom(length + more)) {
            refuse(new RelayException(
                    ErrorCode.BUSY,
                    "request not taken: limitBytes=" + budget.limitBytes
                            + "; too much is being sent at once, try again soon"));
            return false;
        }
        chunk.get(bytes, length, more);
        length += more;
        if (chunk.isLast()) {
            handOver();
        }
        return !chunk.isLast();
    }

    private boolean makeRoom(int needed) {
        if (needed <= bytes.length) {
            return true;
        }
        long doubled = Math.max(FIRST_BYTES, 2L * bytes.length);
        int grown = (int) Math.max(needed, Math.min(maxBytes, doubled));
        if (!budget.take(grown - bytes.length)) {
            return false;
        }
        bytes = Arrays.copyOf(bytes, grown);
        return true;
    }

    private void handOver() {
        ByteBuffer body = ByteBuffer.wrap(bytes, 0, length).slice();
        exchange.guarded(() -> whenRead.accept(body));
        giveBack();
    }

    /** Answers, then reads on and throws away, unless the client waits to be asked for its body. */
    private void refuse(RelayException why) {
        refused = true;
        giveBack();
        boolean waits = request.getHeaders().contains(HttpHeader.EXPECT, HttpHeaderValue.CONTINUE.asString());
        exchange.problem(
                Problem.of(why),
                waits ? exchange.callback() : Callback.from(() -> request.demand(this), exchange.callback()::failed));
    }

    /** The client stalls or is gone. */
    private void broken(Content.Chunk chunk) {
        giveBack();
        if (refused) {
            exchange.callback().failed(chunk.getFailure());
            return;
        }
        int status = chunk.getFailure() instanceof TimeoutException
                ? HttpStatus.REQUEST_TIMEOUT_408
                : HttpStatus.BAD_REQUEST_400;
        exchange.problem(
                Problem.of(status, "body did not come whole: receivedBytes=" + length + "; send it again"),
                exchange.callback());
    }

    private void giveBack() {
        budget.giveBack(bytes.length);
        bytes = new byte[0];
    }

    private static RelayException tooLarge(int maxBytes) {
        return new RelayException(
                ErrorCode.TOO_LARGE, "request is too large: limitBytes=" + maxBytes + "; send smaller requests");
    }

    /**
     * Bytes that all bodies being read may have together.
     *
     * <p>Threading: thread-safe by an atomic number.
     */
    static final class Budget {
        private final long limitBytes;
        private final AtomicLong takenBytes = new AtomicLong();

        Budget(long limitBytes) {
            this.limitBytes = limitBytes;
        }

        boolean take(int bytes) {
            if (takenBytes.addAndGet(bytes) > limitBytes) {
                takenBytes.addAndGet(-bytes);
                return false;
            }
            return true;
        }

        void giveBack(int bytes) {
            takenBytes.addAndGet(-bytes);
        }
    }
}
