package io.tabletrelay.core.pipe;

import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.delivery.Bound;
import io.tabletrelay.core.delivery.DeliverySink;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** A connection that remembers what it was given; its bytes are on the wire at once. */
final class RecordingSink implements DeliverySink {
    final List<String> said = new CopyOnWriteArrayList<>();
    final List<Long> ids = new CopyOnWriteArrayList<>();
    final List<String> payloads = new CopyOnWriteArrayList<>();
    /** False: the connection takes nothing. */
    volatile boolean writable = true;

    private volatile LongConsumer onDeliver = id -> {};
    private volatile Runnable onBound = () -> {};
    private final AtomicLong given = new AtomicLong();

    /** What the consumer does with each event, before {@link #deliver} returns. */
    void onDeliver(LongConsumer reaction) {
        onDeliver = reaction;
    }

    /** What the connection does when it is told that it is bound. */
    void onBound(Runnable reaction) {
        onBound = reaction;
    }

    @Override
    public void bound(@Nullable Bound answer) {
        said.add("bound");
        onBound.run();
    }

    @Override
    public void refused(RelayException why) {
        said.add("refused");
    }

    @Override
    public void probe() {
        said.add("probe");
    }

    @Override
    public void takenOver() {
        said.add("takenOver");
    }

    @Override
    public void unbound() {
        said.add("unbound");
    }

    @Override
    public void ended() {
        said.add("ended");
    }

    @Override
    public void acked(long[] firstIds, long[] lastIds) {
        said.add("acked");
    }

    @Override
    public boolean writable() {
        return writable;
    }

    @Override
    public long deliver(long id, long appendedAtMillis, int delivery, ByteBuffer payload, Map<String, String> headers) {
        ids.add(id);
        payloads.add(StandardCharsets.UTF_8.decode(payload.duplicate()).toString());
        onDeliver.accept(id);
        return given.incrementAndGet();
    }

    @Override
    public void flush() {}

    @Override
    public long writtenBytes() {
        return given.get();
    }

    @Override
    public long lastWriteNanos() {
        return Long.MIN_VALUE;
    }
}
