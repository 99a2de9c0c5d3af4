package io.tabletrelay.core.delivery;

/**
 * A connection that asked for the pipe.
 *
 * <p>Threading: {@link #probed} may be read by any thread; the rest is confined to the pipe's transfer thread.
 */
public final class Consumer {
    private final DeliverySink sink;
    private final BindOptions options;
    private boolean everBound;
    private boolean gone;
    private boolean ended;
    private volatile boolean probed;

    public Consumer(DeliverySink sink, BindOptions options) {
        this.sink = sink;
        this.options = options;
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
