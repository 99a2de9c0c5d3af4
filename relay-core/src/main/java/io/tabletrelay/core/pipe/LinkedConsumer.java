package io.tabletrelay.core.pipe;

import io.tabletrelay.core.delivery.BindOptions;
import io.tabletrelay.core.delivery.Consumer;
import io.tabletrelay.core.delivery.DeliverySink;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A connection's link to its pipe: what comes from the socket's threads is merged and handed to the transfer thread.
 *
 * <p>Threading: thread-safe.
 */
final class LinkedConsumer implements ConsumerLink {
    private final LoopedPipe pipe;
    private final Consumer consumer;
    private final LineInbox inbox = new LineInbox();
    private final AtomicBoolean gone = new AtomicBoolean();

    LinkedConsumer(LoopedPipe pipe, DeliverySink sink, BindOptions options) {
        this.pipe = pipe;
        this.consumer = new Consumer(sink, options);
    }

    Consumer consumer() {
        return consumer;
    }

    @Override
    public void ack(long firstId, long lastId) {
        line(firstId);
    }

    @Override
    public void ackUpTo(long id) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void nack(long id, long delayMillis, String reason) {
        line(-id);
    }

    @Override
    public void term(long id, String reason) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void hold(long id) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void window(int events) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void unbind() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void life(boolean probePong) {
        if (consumer.probed()) {
            pipe.submit(loop -> loop.life(consumer, probePong));
        }
    }

    @Override
    public void writable() {
        pipe.wake();
    }

    @Override
    public void gone() {
        if (gone.compareAndSet(false, true)) {
            pipe.submit(loop -> loop.gone(consumer));
        }
    }

    private void line(long line) {
        if (inbox.add(line)) {
            pipe.submit(loop -> loop.lines(consumer, inbox.takeAll()));
        }
    }
}
