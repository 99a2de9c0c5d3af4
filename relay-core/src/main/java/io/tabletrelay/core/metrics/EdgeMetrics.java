package io.tabletrelay.core.metrics;

import com.codahale.metrics.Counter;
import java.util.function.LongSupplier;

/**
 * What happens at the WebSocket edge.
 *
 * <p>Threading: thread-safe by its counters.
 */
public final class EdgeMetrics {
    private final MetricTable table;
    private final Counter malformedLines;
    private final Counter earlyAcksDropped;
    private final Counter refusedBinds;
    private final Counter refusedHandshakes;
    private final Counter slowConsumerCloses;

    EdgeMetrics(MetricTable table) {
        this.table = table;
        this.malformedLines = table.counter(MetricKey.of(MetricName.EDGE_MALFORMED_LINES));
        this.earlyAcksDropped = table.counter(MetricKey.of(MetricName.EDGE_EARLY_ACKS_DROPPED));
        this.refusedBinds = table.counter(MetricKey.of(MetricName.EDGE_REFUSED_BINDS));
        this.refusedHandshakes = table.counter(MetricKey.of(MetricName.EDGE_REFUSED_HANDSHAKES));
        this.slowConsumerCloses = table.counter(MetricKey.of(MetricName.EDGE_SLOW_CONSUMER_CLOSES));
    }

    /** Shows how many connections are open; the supplier is called by any thread. */
    public void showConnections(LongSupplier open) {
        table.gauge(MetricKey.of(MetricName.EDGE_CONNECTIONS), open::getAsLong);
    }

    /** Shows how much waits for the connection for which most waits; the supplier is called by any thread. */
    public void showMostUnsentBytes(LongSupplier bytes) {
        table.gauge(MetricKey.of(MetricName.EDGE_UNSENT_BYTES), bytes::getAsLong);
    }

    /** Shows what the consumers of all pipes have together; the suppliers are called by any thread. */
    public void showTransfers(LongSupplier unwrittenBytes, LongSupplier inFlightEvents) {
        table.gauge(MetricKey.of(MetricName.EDGE_UNWRITTEN_BYTES), unwrittenBytes::getAsLong);
        table.gauge(MetricKey.of(MetricName.EDGE_IN_FLIGHT), inFlightEvents::getAsLong);
    }

    public void malformedLine() {
        malformedLines.inc();
    }

    public void earlyAcksDropped(int acks) {
        earlyAcksDropped.inc(acks);
    }

    public void refusedBind() {
        refusedBinds.inc();
    }

    public void refusedHandshake() {
        refusedHandshakes.inc();
    }

    public void slowConsumerClose() {
        slowConsumerCloses.inc();
    }
}
