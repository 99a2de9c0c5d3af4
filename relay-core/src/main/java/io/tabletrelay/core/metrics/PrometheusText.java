package io.tabletrelay.core.metrics;

import com.codahale.metrics.Counting;
import com.codahale.metrics.Gauge;
import com.codahale.metrics.Metric;
import io.prometheus.metrics.config.EscapingScheme;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricMetadata;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** The metrics at one moment, in Prometheus' text format. */
final class PrometheusText {
    static final String CONTENT_TYPE = PrometheusTextFormatWriter.CONTENT_TYPE;

    private PrometheusText() {}

    static byte[] render(MetricTable table) {
        Map<MetricName, List<Sample>> samples = new EnumMap<>(MetricName.class);
        table.forEach((key, metric) -> samples.computeIfAbsent(key.name(), name -> new ArrayList<>())
                .add(new Sample(labels(key), valueOf(metric))));
        List<MetricSnapshot> snapshots = new ArrayList<>();
        samples.forEach((name, ofOneName) -> snapshots.add(snapshot(name, ofOneName)));
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        try {
            PrometheusTextFormatWriter.create().write(text, new MetricSnapshots(snapshots), EscapingScheme.DEFAULT);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return text.toByteArray();
    }

    private static MetricSnapshot snapshot(MetricName name, List<Sample> samples) {
        MetricMetadata metadata = new MetricMetadata(name.text(), name.help());
        return switch (name.kind()) {
            case COUNTER ->
                new CounterSnapshot(
                        metadata,
                        samples.stream()
                                .map(sample -> new CounterDataPointSnapshot(
                                        Math.max(0, sample.value), sample.labels, null, 0L))
                                .toList());
            case GAUGE ->
                new GaugeSnapshot(
                        metadata,
                        samples.stream()
                                .map(sample -> new GaugeDataPointSnapshot(sample.value, sample.labels, null))
                                .toList());
        };
    }

    private static Labels labels(MetricKey key) {
        return Labels.of(key.name().labels(), key.labelValues());
    }

    /** A gauge that breaks shows as not a number, so that the others are still seen. */
    private static double valueOf(Metric metric) {
        if (metric instanceof Counting counting) {
            return counting.getCount();
        }
        try {
            return metric instanceof Gauge<?> gauge && gauge.getValue() instanceof Number number
                    ? number.doubleValue()
                    : Double.NaN;
        } catch (RuntimeException e) {
            return Double.NaN;
        }
    }

    private record Sample(Labels labels, double value) {}
}
