package io.tabletrelay.core.pipe;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.DeliveryConfig;
import io.tabletrelay.core.delivery.BindOptions;
import io.tabletrelay.core.delivery.Bound;
import io.tabletrelay.core.delivery.Consumer;
import io.tabletrelay.core.delivery.DeliverySink;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A connection of the model: it tells the model what it is given.
 *
 * <p>Threading: confined to the test's thread.
 */
final class ModelConsumer implements DeliverySink {
    final Consumer consumer;
    final long windowBytes;
    private final DeliveryModel model;
    private final LongSupplier nanoTime;
    private final List<String> story;
    int window;
    boolean served;
    boolean over;
    boolean probed;
    /** What it says counts no more: the subscription was reset. */
    boolean stale;

    boolean everBound;
    private long given;

    ModelConsumer(
            DeliveryModel model,
            BindOptions options,
            DeliveryConfig config,
            LongSupplier nanoTime,
            List<String> story) {
        this.story = story;
        this.model = model;
        this.nanoTime = nanoTime;
        this.window = options.windowEvents();
        this.windowBytes = options.windowBytes();
        this.consumer = new Consumer(this, options, config);
    }

    @Override
    public void bound(@Nullable Bound answer) {
        assertThat(everBound).as("bound twice").isFalse();
        everBound = true;
        served = true;
    }

    @Override
    public void refused(RelayException why) {
        over = true;
        model.takenFrom(this, false, nanoTime.getAsLong());
    }

    @Override
    public void probe() {
        probed = true;
    }

    @Override
    public void takenOver() {
        over = true;
        model.takenFrom(this, false, nanoTime.getAsLong());
    }

    @Override
    public void unbound() {
        over = true;
        model.takenFrom(this, false, nanoTime.getAsLong());
    }

    @Override
    public void ended() {
        throw new AssertionError("nobody finished the pipe");
    }

    @Override
    public void acked(long[] firstIds, long[] lastIds) {
        for (int i = 0; i < firstIds.length; i++) {
            for (long id = firstIds[i]; id <= lastIds[i]; id++) {
                assertThat(stale || model.event(id).place == DeliveryModel.Place.SETTLED)
                        .as("confirmed and not settled: id=%d", id)
                        .isTrue();
            }
        }
    }

    @Override
    public boolean writable() {
        return true;
    }

    @Override
    public long deliver(long id, long appendedAtMillis, int delivery, ByteBuffer payload, Map<String, String> headers) {
        story.add("sent " + id + ", delivery=" + delivery);
        model.deliver(this, id, delivery, nanoTime.getAsLong());
        given += payload.remaining();
        return given;
    }

    @Override
    public void flush() {}

    @Override
    public long writtenBytes() {
        return given;
    }

    @Override
    public long lastWriteNanos() {
        return Long.MIN_VALUE;
    }
}
