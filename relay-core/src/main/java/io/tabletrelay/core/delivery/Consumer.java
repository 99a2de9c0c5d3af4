package io.tabletrelay.core.delivery;

import io.tabletrelay.core.config.DeliveryConfig;
import org.jspecify.annotations.Nullable;

/**
 * A connection that asked for the pipe.
 *
 * <p>Threading: {@link #probed} may be read by any thread; the rest is confined to the pipe's transfer thread.
 */
public final class Consumer {
    private final DeliverySink sink;
    private final BindOptions options;
    private final HeldEvents held;
    private final AnsweredAcks answered = new AnsweredAcks();
    private boolean everBound;
    private int beginning;
    private boolean told;
    private boolean gone;
    private boolean ended;
    private volatile boolean probed;

    public Consumer(DeliverySink sink, BindOptions options, DeliveryConfig config) {
        this.sink = sink;
        this.options = options;
        boolean first = options.dialect() == BindOptions.Dialect.ONE;
        this.held = new HeldEvents(
                options.windowEvents() == 0 ? config.windowEvents() : options.windowEvents(),
                options.windowBytes(),
                (first ? config.redelivery().ackTimeout() : config.redelivery().extendableAckTimeout()).toNanos(),
                first);
    }

    HeldEvents held() {
        return held;
    }

    AnsweredAcks answered() {
        return answered;
    }

    /** Most events in flight from now on; 0: none is sent. */
    public void window(int events) {
        held.windowEvents(events);
    }

    /** Most events in flight. */
    public int window() {
        return held.windowEvents();
    }

    /** What it asked for. */
    public BindOptions options() {
        return options;
    }

    public DeliverySink sink() {
        return sink;
    }

    /** True once the pipe was this connection's; its acks count from then on, even after it lost the pipe. */
    public boolean everBound() {
        return everBound;
    }

    /** Which of all subscriptions of that name it was bound to, one after the other. */
    public int beginning() {
        return beginning;
    }

    public void beginning(int boundTo) {
        beginning = boundTo;
    }

    /** True once it was told that it is bound. */
    public boolean told() {
        return told;
    }

    /** Tells it that it is bound, see {@link DeliverySink#bound}. */
    public void tell(@Nullable Bound answer) {
        told = true;
        sink.bound(answer);
    }

    /** True while the relay waits for a sign of life from this connection. */
    public boolean probed() {
        return probed;
    }

    /** True once the connection is closed. */
    public boolean isGone() {
        return gone;
    }

    public void gone() {
        gone = true;
    }

    /** Tells it once that nothing will ever come again. */
    void end() {
        if (!ended) {
            ended = true;
            sink.ended();
        }
    }

    void bound() {
        everBound = true;
    }

    void probed(boolean waiting) {
        probed = waiting;
    }
}
