package io.tabletrelay.core;

import io.tabletrelay.api.Durability;
import io.tabletrelay.core.config.DeliveryConfig;
import io.tabletrelay.core.config.HttpConfig;
import io.tabletrelay.core.config.RelayConfig;
import io.tabletrelay.core.config.ServerConfig;
import io.tabletrelay.core.config.StoreConfig;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code relay serve}: runs a relay until SIGTERM or SIGINT, then stops it in order.
 *
 * <p>Threading: confined to the thread that runs the command; the stop runs on a shutdown thread of its own.
 */
@Command(name = "serve", description = "Runs the relay until it is stopped with SIGTERM or Ctrl-C.")
final class ServeCommand implements Callable<Integer> {
    private static final long SMALLEST_SEGMENT_BYTES = 1L << 20;

    @Option(names = "--data", defaultValue = "data", description = "folder of the pipes (default: ${DEFAULT-VALUE})")
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private Path data;

    @Option(
            names = "--ws-port",
            defaultValue = "7070",
            description = "WebSocket port; 0 picks a free one (default: ${DEFAULT-VALUE})")
    private int wsPort;

    @Option(
            names = "--http-port",
            defaultValue = "7071",
            description = "HTTP port; 0 picks a free one (default: ${DEFAULT-VALUE})")
    private int httpPort;

    @Option(
            names = "--pipe-window",
            defaultValue = "10",
            description = "most events a consumer has in flight (default: ${DEFAULT-VALUE})")
    private int pipeWindow;

    @Option(
            names = "--max-bytes",
            paramLabel = "SIZE",
            defaultValue = "0",
            converter = ByteSize.class,
            description =
                    "most bytes of log files a pipe may have, 4MiB or more; 0 is no limit (default: ${DEFAULT-VALUE})")
    private long maxBytes;

    @Option(
            names = "--max-events",
            defaultValue = "0",
            description = "most unsettled events a pipe may have; 0 is no limit (default: ${DEFAULT-VALUE})")
    private long maxEvents;

    @Option(
            names = "--disk-reserve",
            paramLabel = "SIZE",
            defaultValue = "64MiB",
            converter = ByteSize.class,
            description = "free disk space that appends never use (default: ${DEFAULT-VALUE})")
    private long diskReserveBytes;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Override
    public Integer call() throws InterruptedException {
        RelayConfig config = config();
        Relay relay = Relay.start(config);
        stopOnSignal(relay, spec.commandLine().getOut());
        PrintWriter out = spec.commandLine().getOut();
        out.print(banner(config, relay.wsPort(), relay.httpPort()));
        out.printf(
                "ready ws=%s:%d http=%s:%d%n",
                config.server().host(), relay.wsPort(), config.http().host(), relay.httpPort());
        out.flush();
        new CountDownLatch(1).await();
        return 0;
    }

    RelayConfig config() {
        if (data.toString().isBlank()) {
            throw new IllegalArgumentException("data is empty; name a folder");
        }
        RelayConfig defaults = RelayConfig.defaults(data.toAbsolutePath().normalize());
        ServerConfig server = defaults.server();
        StoreConfig store = defaults.store();
        DeliveryConfig delivery = defaults.delivery();
        return new RelayConfig(
                defaults.dataDirectory(),
                defaults.drainTimeout(),
                new ServerConfig(
                        server.host(),
                        wsPort,
                        server.maxConnections(),
                        server.handshakeTimeout(),
                        server.heartbeat(),
                        server.heartbeatTimeout(),
                        server.maxUnsentBytes(),
                        server.slowConsumerTimeout()),
                new HttpConfig(defaults.http().host(), httpPort, defaults.http().maxRequestBytes()),
                new StoreConfig(
                        segmentBytes(store.segmentBytes()),
                        store.maxEventBytes(),
                        maxBytes,
                        maxEvents,
                        diskReserveBytes),
                new DeliveryConfig(
                        pipeWindow, delivery.maxAckSpread(), delivery.takeoverProbe(), delivery.redelivery()));
    }

    /** A limited pipe is cut into at least four segments, so that it can give space back before it is full. */
    private long segmentBytes(long usual) {
        return maxBytes == 0 ? usual : Math.max(SMALLEST_SEGMENT_BYTES, Math.min(usual, maxBytes / 4));
    }

    private static void stopOnSignal(Relay relay, PrintWriter out) {
        Runnable stop = () -> {
            int exitCode = 0;
            try {
                relay.close();
                out.println("stopped");
            } catch (RuntimeException e) {
                out.println("stopped, but not in order: " + e.getMessage());
                exitCode = RelayMain.FAILED;
            }
            out.flush();
            // a process that ends by a signal would report 128 + its number, though all is well
            Runtime.getRuntime().halt(exitCode);
        };
        Runtime.getRuntime().addShutdownHook(new Thread(stop, "relay-stop"));
    }

    static String banner(RelayConfig config, int wsPort, int httpPort) {
        String http = config.http().host() + ":" + httpPort;
        String ws = config.server().host() + ":" + wsPort;
        String addresses = httpPort == HttpConfig.DEFAULT.port() && wsPort == ServerConfig.DEFAULT.port()
                ? ""
                : " --server http://" + http + " --ws-port " + wsPort;
        return """
                Tablet Relay %s
                  data        %s
                  WebSocket   ws://%s
                  HTTP        http://%s
                  durability  %s: confirmed events survive kill -9 of the relay, but not a power cut

                Try next, in another terminal:
                  curl -sd '{"t":1}' 'http://%s/v1/pipes/hello/events?type=json'
                  ./relay consume --pipe hello%s
                  curl -s http://%s/v1/pipes/hello

                """.formatted(
                        RelayMain.Version.text(),
                        config.dataDirectory(),
                        ws,
                        http,
                        Durability.PROCESS.word(),
                        http,
                        addresses,
                        http);
    }
}
