package io.tabletrelay.core.metrics;

import com.codahale.metrics.MetricRegistry;
import com.codahale.metrics.jmx.JmxReporter;
import io.tabletrelay.api.PipeName;
import java.util.Hashtable;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;

/**
 * The metrics of one relay: counted here, shown over JMX and as Prometheus text. {@link MetricName} lists them all.
 *
 * <p>Threading: thread-safe by its concurrent maps.
 */
public final class RelayMetrics implements AutoCloseable {
    private static final String JMX_DOMAIN = "io.tabletrelay";

    private final MetricTable table = new MetricTable(new MetricRegistry());
    private final Map<PipeName, PipeMetrics> pipes = new ConcurrentHashMap<>();
    private final Map<String, SerializerMetrics> serializers = new ConcurrentHashMap<>();
    private final EdgeMetrics edge = new EdgeMetrics(table);
    private final JmxReporter jmx = JmxReporter.forRegistry(table.registry())
            .inDomain(JMX_DOMAIN)
            .createsObjectNamesWith((type, domain, name) -> objectName(domain, table.key(name)))
            .build();

    public RelayMetrics() {
        JvmMetrics.register(table);
    }

    /** Shows all metrics over JMX from now on until {@link #close}. */
    public void startJmx() {
        jmx.start();
    }

    /** The pipe's metrics: the same ones at each call, until they are removed. */
    public PipeMetrics pipe(PipeName pipe) {
        return pipes.computeIfAbsent(pipe, name -> new PipeMetrics(table, name));
    }

    /** Forgets a pipe that is no more. */
    public void removePipe(PipeName pipe) {
        PipeMetrics metrics = pipes.remove(pipe);
        if (metrics != null) {
            metrics.remove();
        }
    }

    /** The metrics of the serializer of that source type. */
    public SerializerMetrics serializer(String sourceType) {
        return serializers.computeIfAbsent(sourceType, type -> new SerializerMetrics(table, type));
    }

    public EdgeMetrics edge() {
        return edge;
    }

    /** All metrics in Prometheus' text format, UTF-8. */
    public byte[] prometheusText() {
        return PrometheusText.render(table);
    }

    /** What {@link #prometheusText} is to be served as. */
    public String prometheusContentType() {
        return PrometheusText.CONTENT_TYPE;
    }

    @Override
    public void close() {
        jmx.close();
    }

    private static ObjectName objectName(String domain, MetricKey key) {
        // JMX wants this class.
        @SuppressWarnings("JdkObsolete")
        Hashtable<String, String> properties = new Hashtable<>();
        properties.put("name", key.name().text());
        for (int i = 0; i < key.labelValues().size(); i++) {
            properties.put(
                    key.name().labels().get(i),
                    ObjectName.quote(key.labelValues().get(i)));
        }
        try {
            return new ObjectName(domain, properties);
        } catch (MalformedObjectNameException e) {
            throw new IllegalArgumentException("metric cannot be shown over jmx: name=" + key.registryName(), e);
        }
    }
}
