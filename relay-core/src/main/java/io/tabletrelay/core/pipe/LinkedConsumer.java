package io.tabletrelay.core.pipe;

import io.tabletrelay.core.config.DeliveryConfig;
import io.tabletrelay.core.delivery.BindOptions;
import io.tabletrelay.core.delivery.Consumer;
import io.tabletrelay.core.delivery.DeliverySink;
import io.tabletrelay.core.pipe.SaidLines.Verb;
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

    LinkedConsumer(LoopedPipe pipe, DeliverySink sink, BindOptions options, DeliveryConfig config) {
        this.pipe = pipe;
        this.consumer = new Consumer(sink, options, config);
    }

    Consumer consumer() {
        return consumer;
    }

    @Override
    public void ack(long firstId, long lastId) {
        tell(inbox.add(Verb.ACK, firstId, lastId));
    }

    @Override
    public void ackUpTo(long id) {
        tell(inbox.add(Verb.ACK_UP_TO, id, 0));
    }

    @Override
    public void nack(long id, long delayMillis, String reason) {
        tell(inbox.add(Verb.NACK, id, delayMillis, reason));
    }

    @Override
    public void term(long id, String reason) {
        tell(inbox.add(Verb.TERM, id, 0, reason));
    }

    @Override
    public void hold(long id) {
        tell(inbox.add(Verb.HOLD, id, 0));
    }

    @Override
    public void window(int events) {
        tell(inbox.window(events));
    }

    @Override
    public void unbind() {
        pipe.submit(loop -> loop.unbind(consumer));
    }

    @Override
    public void life(boolean probePong) {
        if (consumer.probed()) {
            pipe.submit(loop -> loop.life(consumer, probePong));
        }
    }

    @Override
    public void written(long bytesSoFar) {
        consumer.written(bytesSoFar);
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

    private void tell(boolean first) {
        if (first) {
            pipe.submit(loop -> loop.lines(consumer, inbox.takeAll()));
        }
    }
}
