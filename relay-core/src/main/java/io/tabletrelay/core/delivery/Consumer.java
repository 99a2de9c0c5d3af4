package io.tabletrelay.core.delivery;

import io.tabletrelay.core.config.DeliveryConfig;
import org.jspecify.annotations.Nullable;

/**
 * A connection that asked for the pipe.
 *
 * <p>Threading: {@link #probed} may be read, and {@link #written} called, by any thread; the rest is confined to the pipe's transfer thread.
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
    /** Null while it is not served. */
    private volatile TransferQuota.@Nullable Share share;

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

    /** It is served from now on, and has a share of what all consumers may have. */
    void served(TransferQuota quota, Runnable wake) {
        share = quota.open(sink.writtenBytes(), wake);
    }

    /** It is served no more: its share is given back. */
    void left() {
        TransferQuota.Share before = share;
        share = null;
        if (before != null) {
            before.close();
        }
    }

    /** False: it may have nothing more now, and its pipe is woken once that has changed. */
    boolean mayTake() {
        TransferQuota.Share mine = share;
        return mine != null && mine.mayTake();
    }

    void sent(long endOffset) {
        held.sent(endOffset);
        TransferQuota.Share mine = share;
        if (mine != null) {
            mine.sent(endOffset);
        }
    }

    /** So many events are in flight no more. */
    void returned(int events) {
        TransferQuota.Share mine = share;
        if (mine != null) {
            mine.returned(events);
        }
    }

    /** So many of the bytes that its connection was given have reached the socket. */
    public void written(long bytesSoFar) {
        TransferQuota.Share mine = share;
        if (mine != null) {
            mine.written(bytesSoFar);
        }
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
