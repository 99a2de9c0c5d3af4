package io.tabletrelay.core.metrics;

import java.util.List;

/**
 * One series: a metric and the values of its labels.
 *
 * <p>Threading: immutable.
 */
record MetricKey(MetricName name, List<String> labelValues) {
    MetricKey {
        labelValues = List.copyOf(labelValues);
        if (labelValues.size() != name.labels().size()) {
            throw new IllegalArgumentException("labels do not fit: metric=" + name.text() + ", labels=" + name.labels()
                    + ", values=" + labelValues.size());
        }
    }

    static MetricKey of(MetricName name, String... labelValues) {
        return new MetricKey(name, List.of(labelValues));
    }

    /** The name under which the registry and JMX know it: unique, and readable by people. */
    String registryName() {
        if (labelValues.isEmpty()) {
            return name.text();
        }
        StringBuilder text = new StringBuilder(name.text()).append('{');
        for (int i = 0; i < labelValues.size(); i++) {
            text.append(i == 0 ? "" : ",").append(name.labels().get(i)).append("=\"");
            text.append(labelValues.get(i).replace("\\", "\\\\").replace("\"", "\\\""))
                    .append('"');
        }
        return text.append('}').toString();
    }
}
