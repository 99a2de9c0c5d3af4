package io.tabletrelay.harness.edge;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What one consumer of some kind was sent.
 *
 * <p>Threading: thread-safe.
 */
final class Consumed {
    private final String pipe;
    private final boolean acking;
    private final CompletableFuture<Void> readsOn;
    private final Map<Long, String> digestById = new ConcurrentSkipListMap<>();
    private final CompletableFuture<Integer> closeCode = new CompletableFuture<>();
    private final CompletableFuture<String> bound = new CompletableFuture<>();
    private volatile @Nullable Consumer<String> sender;

    private Consumed(String pipe, boolean acking, CompletableFuture<Void> readsOn) {
        this.pipe = pipe;
        this.acking = acking;
        this.readsOn = readsOn;
    }

    /** One that acks each event as it comes. */
    static Consumed acking(String pipe) {
        return new Consumed(pipe, true, CompletableFuture.completedFuture(null));
    }

    /** One that acks nothing, and stops reading until it is told to go on. */
    static Consumed holding(String pipe, CompletableFuture<Void> readsOn) {
        return new Consumed(pipe, false, readsOn);
    }

    String pipe() {
        return pipe;
    }

    boolean acking() {
        return acking;
    }

    /** It reads no further than its first event before this is complete. */
    CompletableFuture<Void> readsOn() {
        return readsOn;
    }

    void connected(Consumer<String> lineSender) {
        sender = lineSender;
        send("BIND:" + pipe);
    }

    /** Sends a line, if it is connected and not closed. */
    void send(String line) {
        Consumer<String> lineSender = sender;
        if (lineSender != null && !closeCode.isDone()) {
            lineSender.accept(line);
        }
    }

    void line(String line) {
        bound.complete(line);
    }

    void event(ByteBuffer frame) {
        ByteBuffer bytes = frame.duplicate();
        long id = bytes.getLong();
        event(id, digest(bytes));
        if (acking) {
            send("ACK:" + id);
        }
    }

    void event(long id, String digest) {
        String before = digestById.put(id, digest);
        if (before != null) {
            failed("event came twice: id=" + id);
        }
    }

    void closed(int code) {
        closeCode.complete(code);
    }

    void failed(String what) {
        closeCode.completeExceptionally(new IllegalStateException(what));
    }

    void awaitBound() throws Exception {
        assertThat(bound.get(60, TimeUnit.SECONDS)).isEqualTo("READY");
    }

    int awaitCloseCode() throws Exception {
        return closeCode.get(60, TimeUnit.SECONDS);
    }

    /** Digests of the payloads, by id. */
    Map<Long, String> digests() {
        return digestById;
    }

    static String digest(ByteBuffer payload) {
        try {
            MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
            sha256.update(payload.duplicate());
            return HexFormat.of().formatHex(sha256.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
