package io.tabletrelay.core.metrics;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricSet;
import com.codahale.metrics.jvm.BufferPoolMetricSet;
import com.codahale.metrics.jvm.FileDescriptorRatioGauge;
import com.codahale.metrics.jvm.GarbageCollectorMetricSet;
import com.codahale.metrics.jvm.MemoryUsageGaugeSet;
import com.codahale.metrics.jvm.ThreadDeadlockDetector;
import java.lang.management.ManagementFactory;

/** What the JVM says about itself, under our names and in base units. */
final class JvmMetrics {
    private static final String COUNT_SUFFIX = ".count";
    private static final double MILLIS_PER_SECOND = 1000.0;

    private JvmMetrics() {}

    static void register(MetricTable table) {
        MetricSet memory = new MemoryUsageGaugeSet();
        register(table, MetricName.JVM_HEAP_USED, memory, "heap.used");
        register(table, MetricName.JVM_HEAP_MAX, memory, "heap.max");
        register(table, MetricName.JVM_NON_HEAP_USED, memory, "non-heap.used");
        MetricSet buffers = new BufferPoolMetricSet(ManagementFactory.getPlatformMBeanServer());
        register(table, MetricName.JVM_DIRECT_BUFFERS, buffers, "direct.used");
        register(table, MetricName.JVM_MAPPED_BUFFERS, buffers, "mapped.used");
        table.gauge(
                MetricKey.of(MetricName.JVM_THREADS),
                () -> ManagementFactory.getThreadMXBean().getThreadCount());
        ThreadDeadlockDetector deadlocks = new ThreadDeadlockDetector();
        table.gauge(
                MetricKey.of(MetricName.JVM_DEADLOCKED_THREADS),
                () -> deadlocks.getDeadlockedThreads().size());
        table.gauge(MetricKey.of(MetricName.PROCESS_FILES_RATIO), new FileDescriptorRatioGauge());
        registerCollectors(table);
    }

    private static void registerCollectors(MetricTable table) {
        MetricSet collectors = new GarbageCollectorMetricSet();
        for (String name : collectors.getMetrics().keySet()) {
            if (name.endsWith(COUNT_SUFFIX)) {
                String collector = name.substring(0, name.length() - COUNT_SUFFIX.length());
                Gauge<? extends Number> count = gauge(collectors, name);
                Gauge<? extends Number> millis = gauge(collectors, collector + ".time");
                table.gauge(MetricKey.of(MetricName.JVM_GC_COLLECTIONS, collector), count);
                table.gauge(
                        MetricKey.of(MetricName.JVM_GC_SECONDS, collector),
                        () -> millis.getValue().doubleValue() / MILLIS_PER_SECOND);
            }
        }
    }

    private static void register(MetricTable table, MetricName name, MetricSet set, String nameInSet) {
        table.gauge(MetricKey.of(name), gauge(set, nameInSet));
    }

    private static Gauge<? extends Number> gauge(MetricSet set, String nameInSet) {
        if (!(set.getMetrics().get(nameInSet) instanceof Gauge<?> gauge)) {
            throw new IllegalStateException("the jvm has no such metric: name=" + nameInSet);
        }
        return () -> (Number) gauge.getValue();
    }
}
