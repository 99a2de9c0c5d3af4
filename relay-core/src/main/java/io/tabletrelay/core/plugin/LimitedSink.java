package io.tabletrelay.core.plugin;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.Payload;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.api.serializer.PayloadSink;
import io.tabletrelay.api.serializer.SerializerContext;
import io.tabletrelay.api.serializer.SourceEvent;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The payloads of one event, up to what one event may become. A limit that was passed stays passed, also when the
 * serializer swallows the exception.
 *
 * <p>Threading: confined to the thread that serializes the event.
 */
final class LimitedSink implements PayloadSink {
    /** Most bytes that all payloads of one event may have together. */
    static final int MAX_TOTAL_BYTES = 16 << 20;

    /** Most bytes of one payload's headers: the store takes some more, for what it adds to an event that is given up. */
    static final int MAX_HEADERS_BYTES = 12 << 10;

    private final SourceEvent event;
    private final SerializerContext limits;
    private final List<Payload> payloads = new ArrayList<>(1);
    private final Thread owner = Thread.currentThread();
    private long totalBytes;
    private @Nullable RelayException passedLimit;
    private volatile boolean closed;

    LimitedSink(SourceEvent event, SerializerContext limits) {
        this.event = event;
        this.limits = limits;
    }

    @Override
    public void add(String contentType, Map<String, String> headers, ByteBuffer payload) {
        if (closed || Thread.currentThread() != owner) {
            throw new IllegalStateException("payload comes too late: the sink is usable until serialize returns, "
                    + "by the thread that called it");
        }
        if (passedLimit != null) {
            throw passedLimit;
        }
        Payload added = new Payload(Objects.requireNonNull(contentType, "contentType"), headers, payload.slice());
        totalBytes += added.size();
        checkLimit("headersBytes", bytes(headers), MAX_HEADERS_BYTES);
        checkLimit("payloadBytes", added.size(), limits.maxPayloadBytes());
        checkLimit("payloads", payloads.size() + 1L, limits.maxPayloads());
        checkLimit("totalPayloadBytes", totalBytes, MAX_TOTAL_BYTES);
        payloads.add(added);
    }

    private static long bytes(Map<String, String> headers) {
        long bytes = 0;
        for (Map.Entry<String, String> header : headers.entrySet()) {
            bytes += header.getKey().getBytes(StandardCharsets.UTF_8).length;
            bytes += header.getValue().getBytes(StandardCharsets.UTF_8).length;
        }
        return bytes;
    }

    /** Ends the sink's use. */
    void close() {
        closed = true;
    }

    /** What the sink took; throws if a limit was passed. */
    List<Payload> payloads() {
        if (passedLimit != null) {
            throw passedLimit;
        }
        return List.copyOf(payloads);
    }

    /** The limit that the serializer passed, whatever it threw afterwards. */
    @Nullable
    RelayException passedLimit() {
        return passedLimit;
    }

    private void checkLimit(String what, long value, long limit) {
        if (value > limit) {
            passedLimit = new RelayException(
                    ErrorCode.TOO_LARGE,
                    "event is too large: pipe=" + event.pipe() + ", " + what + "=" + value + ", limit=" + limit
                            + "; send smaller events");
            throw passedLimit;
        }
    }
}
