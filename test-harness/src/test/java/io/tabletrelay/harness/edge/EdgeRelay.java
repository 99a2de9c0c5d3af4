package io.tabletrelay.harness.edge;

import io.tabletrelay.api.Appended;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.core.Relay;
import io.tabletrelay.core.config.DeliveryConfig;
import io.tabletrelay.core.config.HttpConfig;
import io.tabletrelay.core.config.RedeliveryConfig;
import io.tabletrelay.core.config.RelayConfig;
import io.tabletrelay.core.config.ServerConfig;
import io.tabletrelay.core.config.StoreConfig;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

/**
 * A relay with timeouts and a backlog of the test's choice; SIGTERM stops it as it stops the real one.
 *
 * <p>Arguments are settings, {@code key=value}, and pipes to fill before it is ready, {@code fill=pipe:events:bytes}.
 *
 * <p>Threading: fills on the main thread, closes on the shutdown hook's.
 */
final class EdgeRelay {
    private static final int UNCONFIRMED_EVENTS = 16;

    private final Map<String, String> settings = new HashMap<>();

    private EdgeRelay() {}

    public static void main(String[] arguments) throws InterruptedException {
        new EdgeRelay().run(arguments);
    }

    private void run(String[] arguments) throws InterruptedException {
        for (String argument : arguments) {
            if (!argument.startsWith("fill=")) {
                String[] setting = argument.split("=", 2);
                settings.put(setting[0], setting[1]);
            }
        }
        Relay relay = Relay.start(config());
        Runtime.getRuntime().addShutdownHook(new Thread(relay::close, "relay-stop"));
        for (String argument : arguments) {
            if (argument.startsWith("fill=")) {
                String[] fill = argument.substring("fill=".length()).split(":", 3);
                fill(relay, fill[0], Integer.parseInt(fill[1]), Integer.parseInt(fill[2]));
            }
        }
        System.out.println("ready ws=127.0.0.1:" + relay.wsPort() + " http=127.0.0.1:" + relay.httpPort());
        new CountDownLatch(1).await();
    }

    private RelayConfig config() {
        Path data = Path.of(settings.getOrDefault("data", ""));
        return new RelayConfig(
                data,
                duration("drain", Duration.ofMillis(200)),
                new ServerConfig(
                        settings.getOrDefault("host", "127.0.0.1"),
                        number("ws-port", 0),
                        number("connections", 10_000),
                        duration("handshake", ServerConfig.DEFAULT.handshakeTimeout()),
                        duration("heartbeat", ServerConfig.DEFAULT.heartbeat()),
                        duration("heartbeat-timeout", ServerConfig.DEFAULT.heartbeatTimeout()),
                        ServerConfig.DEFAULT.maxUnsentBytes(),
                        duration("slow", ServerConfig.DEFAULT.slowConsumerTimeout())),
                new HttpConfig(HttpConfig.DEFAULT.host(), 0, HttpConfig.DEFAULT.maxRequestBytes()),
                StoreConfig.DEFAULT,
                new DeliveryConfig(
                        number("window", DeliveryConfig.DEFAULT.windowEvents()),
                        DeliveryConfig.DEFAULT.maxAckSpread(),
                        duration("probe", DeliveryConfig.DEFAULT.takeoverProbe()),
                        RedeliveryConfig.DEFAULT));
    }

    private int number(String key, int otherwise) {
        return Integer.parseInt(settings.getOrDefault(key, String.valueOf(otherwise)));
    }

    private Duration duration(String key, Duration otherwise) {
        return Duration.ofMillis(Long.parseLong(settings.getOrDefault(key, String.valueOf(otherwise.toMillis()))));
    }

    private static void fill(Relay relay, String pipe, int events, int bytes) {
        Queue<CompletableFuture<Appended>> unconfirmed = new ArrayDeque<>();
        for (long number = 1; number <= events; number++) {
            if (unconfirmed.size() == UNCONFIRMED_EVENTS) {
                unconfirmed.remove().join();
            }
            unconfirmed.add(relay.publisher()
                    .publish(new PipeName(pipe), "bytes", payload(number, bytes))
                    .toCompletableFuture());
        }
        unconfirmed.forEach(CompletableFuture::join);
    }

    /** One of the payloads of a filled pipe: its number, which need not be its id, and bytes that follow from it. */
    private static ByteBuffer payload(long number, int bytes) {
        ByteBuffer payload = ByteBuffer.allocate(bytes).putLong(number);
        long state = number * 0x9E3779B97F4A7C15L;
        while (payload.hasRemaining()) {
            state = state * 6364136223846793005L + 1442695040888963407L;
            payload.put((byte) (state >>> 56));
        }
        return payload.flip();
    }

    /** True if these are the bytes of such a payload, all of them as they were. */
    static boolean isPayload(ByteBuffer bytes) {
        return payload(bytes.getLong(bytes.position()), bytes.remaining()).equals(bytes);
    }
}
