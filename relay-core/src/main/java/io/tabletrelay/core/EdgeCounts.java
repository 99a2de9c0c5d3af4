package io.tabletrelay.core;

import io.tabletrelay.core.metrics.EdgeMetrics;
import io.tabletrelay.core.server.EdgeEvents;

/**
 * Counts what happens at the edge.
 *
 * <p>Threading: thread-safe by its counters.
 */
final class EdgeCounts implements EdgeEvents {
    private final EdgeMetrics metrics;

    EdgeCounts(EdgeMetrics metrics) {
        this.metrics = metrics;
    }

    @Override
    public void handshakeRefused() {
        metrics.refusedHandshake();
    }

    @Override
    public void malformedLine() {
        metrics.malformedLine();
    }

    @Override
    public void bindFailed() {
        metrics.refusedBind();
    }

    @Override
    public void earlyAnswerDropped() {
        metrics.earlyAcksDropped(1);
    }

    @Override
    public void slowConsumerCut() {
        metrics.slowConsumerClose();
    }
}
