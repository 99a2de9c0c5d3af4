package io.tabletrelay.core;

import io.tabletrelay.api.Durability;
import io.tabletrelay.api.Publisher;
import io.tabletrelay.api.serializer.SerializerContext;
import io.tabletrelay.core.config.RelayConfig;
import io.tabletrelay.core.delivery.DeliveryContext;
import io.tabletrelay.core.delivery.TransferQuota;
import io.tabletrelay.core.http.HttpEdge;
import io.tabletrelay.core.http.RelayView;
import io.tabletrelay.core.metrics.RelayMetrics;
import io.tabletrelay.core.pipe.PipeRegistry;
import io.tabletrelay.core.plugin.SerializerRegistry;
import io.tabletrelay.core.server.RelayServer;
import io.tabletrelay.core.store.folder.BootId;
import io.tabletrelay.core.store.folder.DataDirectory;
import io.tabletrelay.core.store.log.EventLogs;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Random;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running relay, in its own process or embedded: the one place where its parts are put together, in order, and taken apart in
 * reverse.
 *
 * <p>Threading: started and closed by one thread; the rest is thread-safe.
 */
public final class Relay implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Relay.class);
    private static final int MAX_PAYLOADS_PER_EVENT = 4_096;
    private static final Duration CLOSE_GRACE = Duration.ofSeconds(3);

    private final RelayConfig config;
    private final ArrayDeque<Runnable> closers = new ArrayDeque<>();
    private final PipeRegistry pipes;
    private final RelayPublisher publisher;
    private final RelayServer server;
    private final HttpEdge http;
    private volatile List<String> phase = List.of("the relay is starting");

    /** Starts a relay; returns when it is ready. Throws RelayException with CANNOT_START, and leaves nothing behind, if it cannot. */
    public static Relay start(RelayConfig config) {
        return new Relay(config);
    }

    private Relay(RelayConfig config) {
        this.config = config;
        EventLogs.prepare();
        try {
            DataDirectory directory = DataDirectory.open(config.dataDirectory(), Clock.systemUTC(), BootId::current);
            closers.push(directory::close);
            RelayMetrics metrics = new RelayMetrics();
            metrics.startJmx();
            closers.push(metrics::close);
            SerializerRegistry serializers = SerializerRegistry.load(
                    Relay.class.getClassLoader(),
                    new SerializerContext(config.store().maxEventBytes(), MAX_PAYLOADS_PER_EVENT));
            closers.push(serializers::close);
            TransferQuota quota = new TransferQuota(config.quota());
            metrics.edge().showTransfers(quota::unwrittenBytes, quota::inFlightEvents);
            DeliveryContext delivery =
                    new DeliveryContext(config.delivery(), System::nanoTime, Clock.systemUTC(), new Random(), quota);
            int processors = Runtime.getRuntime().availableProcessors();
            pipes = new PipeRegistry(directory, config.store(), delivery, processors, config.maxOpenPipes(), metrics);
            closers.push(pipes::close);
            publisher = new RelayPublisher(
                    serializers,
                    pipes::pipe,
                    pipes::settings,
                    metrics,
                    Durability.PROCESS,
                    processors,
                    RelayPublisher.DEFAULT_MAX_OUTSTANDING_BYTES);
            server = new RelayServer(
                    config.server(),
                    pipes::pipe,
                    new ProducerIntake(publisher, config.store().maxEventBytes()),
                    new EdgeCounts(metrics.edge()),
                    System::nanoTime);
            server.start();
            metrics.edge().showConnections(server::connections);
            metrics.edge().showMostUnsentBytes(server::mostUnsentBytes);
            closers.push(() -> server.stop(CLOSE_GRACE));
            http = new HttpEdge(
                    config.http(),
                    new RelayView(
                            publisher,
                            serializers::available,
                            pipes::glances,
                            pipes::find,
                            pipes::create,
                            pipes::delete,
                            metrics,
                            this::notReadyReasons));
            http.start();
            closers.push(() -> http.close(CLOSE_GRACE));
            phase = List.of();
        } catch (RuntimeException e) {
            closeAll();
            throw e;
        }
    }

    /** The port that consumers connect to. */
    public int wsPort() {
        return server.port();
    }

    public int httpPort() {
        return http.port();
    }

    /** Publishes without a detour over HTTP. */
    public Publisher publisher() {
        return publisher;
    }

    /** Stops: takes nothing more, sends nothing more, waits a while for the acks of what is in flight, then closes everything. */
    @Override
    public void close() {
        if (closers.isEmpty()) {
            return;
        }
        phase = List.of("the relay is stopping");
        publisher.close();
        pipes.stopSending(config.drainTimeout().toNanos());
        closeAll();
    }

    private List<String> notReadyReasons() {
        return phase.isEmpty() && !server.listening()
                ? List.of("the WebSocket port was lost and is tried again each second: ws-port=" + server.port())
                : phase;
    }

    private void closeAll() {
        for (Runnable closer = closers.poll(); closer != null; closer = closers.poll()) {
            try {
                closer.run();
            } catch (RuntimeException e) {
                log.warn("a part of the relay could not be closed, closing the others", e);
            }
        }
    }
}
