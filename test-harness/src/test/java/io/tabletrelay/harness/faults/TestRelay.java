package io.tabletrelay.harness.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.tabletrelay.api.Appended;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.core.Relay;
import io.tabletrelay.core.client.RelayHttp;
import io.tabletrelay.core.config.DeliveryConfig;
import io.tabletrelay.core.config.HttpConfig;
import io.tabletrelay.core.config.RedeliveryConfig;
import io.tabletrelay.core.config.RelayConfig;
import io.tabletrelay.core.config.ServerConfig;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A relay in this process, on free ports. Its events are numbers, the same as their ids where a pipe's only publisher
 * publishes from 1 on.
 *
 * <p>Threading: thread-safe, but closed by the test's thread.
 */
final class TestRelay implements AutoCloseable {
    static final Duration PATIENCE = Duration.ofSeconds(30);
    /** Long enough that no test sees it. */
    static final Duration NEVER = Duration.ofMinutes(5);

    private final Relay relay;
    private final RelayHttp http;

    private TestRelay(Relay relay) {
        this.relay = relay;
        this.http = new RelayHttp(URI.create("http://127.0.0.1:" + relay.httpPort()));
    }

    static TestRelay start(Path data, DeliveryConfig delivery) {
        return start(data, delivery, Duration.ofSeconds(10), Duration.ofSeconds(30));
    }

    static TestRelay start(Path data, DeliveryConfig delivery, Duration heartbeat, Duration heartbeatTimeout) {
        ServerConfig server = ServerConfig.DEFAULT;
        return new TestRelay(Relay.start(new RelayConfig(
                data,
                Duration.ofMillis(200),
                new ServerConfig(
                        server.host(),
                        0,
                        server.maxConnections(),
                        server.handshakeTimeout(),
                        heartbeat,
                        heartbeatTimeout,
                        server.maxUnsentBytes(),
                        server.slowConsumerTimeout()),
                new HttpConfig(HttpConfig.DEFAULT.host(), 0, HttpConfig.DEFAULT.maxRequestBytes()),
                RelayConfig.defaults(data).store(),
                delivery)));
    }

    static DeliveryConfig window(int events) {
        return delivery(events, NEVER, Duration.ofMillis(20), 20);
    }

    static DeliveryConfig delivery(int windowEvents, Duration ackTimeout, Duration backoff, int maxDeliveries) {
        return delivery(
                windowEvents,
                Duration.ofSeconds(5),
                new RedeliveryConfig(ackTimeout, ackTimeout, backoff, backoff, maxDeliveries));
    }

    static DeliveryConfig delivery(int windowEvents, Duration takeoverProbe, RedeliveryConfig redelivery) {
        return new DeliveryConfig(windowEvents, DeliveryConfig.DEFAULT.maxAckSpread(), takeoverProbe, redelivery);
    }

    int wsPort() {
        return relay.wsPort();
    }

    RelayHttp http() {
        return http;
    }

    URI httpAddress() {
        return URI.create("http://127.0.0.1:" + relay.httpPort());
    }

    BoundClient bind(String pipe) throws IOException {
        return BoundClient.bind(relay.wsPort(), pipe);
    }

    /** Publishes the numbers at once; each is an event of eight bytes, and which is stored first is not said. */
    CompletableFuture<Void> publishing(String pipe, int first, int last) {
        List<CompletableFuture<?>> stored = new ArrayList<>();
        for (int number = first; number <= last; number++) {
            stored.add(publish(pipe, ByteBuffer.allocate(8).putLong(number).flip()));
        }
        return CompletableFuture.allOf(stored.toArray(CompletableFuture<?>[]::new));
    }

    /** Publishes the numbers in order: each is confirmed before the next. */
    void publish(String pipe, int first, int last) throws Exception {
        for (int number = first; number <= last; number++) {
            publishing(pipe, number, number).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
    }

    /** Publishes one event of these bytes. */
    CompletableFuture<Appended> publish(String pipe, ByteBuffer bytes) {
        return relay.publisher().publish(new PipeName(pipe), "bytes", bytes).toCompletableFuture();
    }

    CompletableFuture<Appended> publish(String pipe, String type, ByteBuffer bytes) {
        return relay.publisher().publish(new PipeName(pipe), type, bytes).toCompletableFuture();
    }

    JsonNode status(String pipe) {
        try {
            return http.pipe(pipe);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Waits until a number of the pipe's status has this value. */
    void awaitStatus(String pipe, String member, long value) {
        await(member + "=" + value)
                .atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(10))
                .untilAsserted(
                        () -> assertThat(status(pipe).path(member).asLong(-1)).isEqualTo(value));
    }

    /** Waits until every event up to the last is settled and nothing is left anywhere. */
    void awaitSettled(String pipe, long lastId) {
        awaitStatus(pipe, "floor", lastId);
        JsonNode status = status(pipe);
        assertThat(status.path("lastId").asLong()).isEqualTo(lastId);
        assertThat(status.path("inFlight").asLong(-1)).isZero();
        assertThat(status.path("waiting").asLong(-1)).isZero();
    }

    void awaitUnbound(String pipe) {
        await("no consumer")
                .atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(10))
                .until(() -> !status(pipe).path("consumer").asBoolean(true));
    }

    @Override
    public void close() {
        relay.close();
    }
}
