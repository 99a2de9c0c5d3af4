package io.tabletrelay.core.metrics;

import com.codahale.metrics.Counter;
import com.codahale.metrics.Gauge;
import com.codahale.metrics.Metric;
import com.codahale.metrics.MetricRegistry;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;

/**
 * The registry, and for each of its names the series it stands for.
 *
 * <p>Threading: thread-safe by its concurrent maps.
 */
final class MetricTable {
    private final MetricRegistry registry;
    private final Map<String, MetricKey> keys = new ConcurrentHashMap<>();

    MetricTable(MetricRegistry registry) {
        this.registry = registry;
    }

    MetricRegistry registry() {
        return registry;
    }

    /** The counter of that series, made at the first call. */
    Counter counter(MetricKey key) {
        String registryName = key.registryName();
        keys.put(registryName, key);
        return registry.counter(registryName);
    }

    /** Shows this gauge from now on, in the place of one shown before. */
    void gauge(MetricKey key, Gauge<? extends Number> gauge) {
        String registryName = key.registryName();
        keys.put(registryName, key);
        registry.remove(registryName);
        registry.registerGauge(registryName, gauge);
    }

    void remove(MetricKey key) {
        String registryName = key.registryName();
        registry.remove(registryName);
        keys.remove(registryName);
    }

    /** The series of that name; throws if there is none. */
    MetricKey key(String registryName) {
        MetricKey key = keys.get(registryName);
        if (key == null) {
            throw new IllegalArgumentException("no such metric: name=" + registryName);
        }
        return key;
    }

    void forEach(BiConsumer<MetricKey, Metric> action) {
        registry.getMetrics().forEach((registryName, metric) -> {
            MetricKey key = keys.get(registryName);
            if (key != null) {
                action.accept(key, metric);
            }
        });
    }
}
