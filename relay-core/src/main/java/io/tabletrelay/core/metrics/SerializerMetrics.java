package io.tabletrelay.core.metrics;

import com.codahale.metrics.Counter;

/**
 * What became of the source events of one type.
 *
 * <p>Threading: thread-safe by its counters.
 */
public final class SerializerMetrics {
    private final Counter serialized;
    private final Counter filtered;
    private final Counter refused;

    SerializerMetrics(MetricTable table, String sourceType) {
        this.serialized = table.counter(MetricKey.of(MetricName.SERIALIZED, sourceType));
        this.filtered = table.counter(MetricKey.of(MetricName.FILTERED, sourceType));
        this.refused = table.counter(MetricKey.of(MetricName.REFUSED, sourceType));
    }

    /** One source event became one payload or more. */
    public void serialized() {
        serialized.inc();
    }

    /** Nothing of one source event is to be stored. */
    public void filtered() {
        filtered.inc();
    }

    /** One source event was refused. */
    public void refused() {
        refused.inc();
    }
}
