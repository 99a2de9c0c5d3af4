package io.tabletrelay.core;

import io.tabletrelay.api.Durability;
import io.tabletrelay.core.config.CommitConfig;
import io.tabletrelay.core.config.DeliveryConfig;
import io.tabletrelay.core.config.HttpConfig;
import io.tabletrelay.core.config.RelayConfig;
import io.tabletrelay.core.config.ServerConfig;
import io.tabletrelay.core.config.SettingText;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.config.TransferQuotaConfig;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
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
            names = "--max-events",
            defaultValue = "0",
            description = "most unsettled events a pipe may have; 0 is no limit (default: ${DEFAULT-VALUE})")
    private long maxEvents;

    @Option(
            names = "--max-open-pipes",
            defaultValue = "2000",
            description = "from so many on, pipes that have nothing to do are closed until they are used again"
                    + " (default: ${DEFAULT-VALUE})")
    private int maxOpenPipes;

    @Option(
            names = "--max-in-flight",
            defaultValue = "1000000",
            description = "most events that the consumers of all pipes have in flight; each may have one"
                    + " (default: ${DEFAULT-VALUE})")
    private int maxInFlight;

    @Option(
            names = "--max-unwritten-bytes",
            paramLabel = "SIZE",
            defaultValue = "256MiB",
            converter = ByteSize.class,
            description = "most bytes of events that wait for the sockets of the consumers of all pipes"
                    + " (default: ${DEFAULT-VALUE})")
    private long maxUnwrittenBytes;

    @Option(
            names = "--disk-reserve",
            paramLabel = "SIZE",
            defaultValue = "64MiB",
            converter = ByteSize.class,
            description = "free disk space that appends never use (default: ${DEFAULT-VALUE})")
    private long diskReserveBytes;

    @Mixin
    private final PipeSettingOptions pipeSettings = new PipeSettingOptions();

    @Option(
            names = "--commit-interval",
            paramLabel = "TIME",
            description = "longest that an append waits for others to be forced to disk with it, at durability disk"
                    + " (default: 2ms)")
    private @Nullable String commitInterval;

    @Option(
            names = "--commit-bytes",
            paramLabel = "SIZE",
            description = "that much appended is forced to disk without waiting longer (default: 1MiB)")
    private @Nullable String commitBytes;

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
        StoreConfig store = store(defaults.store());
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
                PipeSettingOptions.checked(pipeSettings.values(), spec.commandLine())
                        .over(store),
                new DeliveryConfig(
                        pipeWindow, delivery.maxAckSpread(), delivery.takeoverProbe(), delivery.redelivery()),
                new TransferQuotaConfig(maxUnwrittenBytes, maxInFlight),
                maxOpenPipes);
    }

    private StoreConfig store(StoreConfig defaults) {
        CommitConfig commit = defaults.commit();
        return new StoreConfig(
                defaults.segmentBytes(),
                defaults.maxEventBytes(),
                defaults.maxBytes(),
                maxEvents,
                diskReserveBytes,
                defaults.durability(),
                new CommitConfig(
                        commitInterval == null ? commit.interval() : SettingText.time(commitInterval),
                        commitBytes == null ? commit.bytes() : SettingText.bytes(commitBytes)),
                defaults.whenFull(),
                defaults.onDamage(),
                defaults.retention());
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
                  durability  %s

                Try next, in another terminal:
                  curl -sd '{"t":1}' 'http://%s/v1/pipes/hello/events?type=json'
                  ./relay consume --pipe hello%s
                  curl -s http://%s/v1/pipes/hello

                """.formatted(
                        RelayMain.Version.text(),
                        config.dataDirectory(),
                        ws,
                        http,
                        survives(config.store().durability()),
                        http,
                        addresses,
                        http);
    }

    private static String survives(Durability durability) {
        return switch (durability) {
            case PROCESS -> "process: confirmed events survive kill -9 of the relay, but not a power cut";
            case DISK -> "disk: confirmed events survive kill -9 of the relay and power cuts";
        };
    }
}
