package io.tabletrelay.harness.edge;

import static io.tabletrelay.harness.edge.EdgeProcess.FULL;
import static io.tabletrelay.harness.edge.EdgeProcess.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.harness.RawClient;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Consumers that bind, take events, ack some of them and are reset, over and over: 5,000 times with {@code -Pedge}. */
class ConnectionStormIT {
    private static final int PIPES = 4;
    private static final int ROUNDS_PER_PIPE = FULL ? 1_250 : 75;
    private static final int EVENTS = 2 * ROUNDS_PER_PIPE;

    @TempDir
    private Path data;

    @Test
    void eachDeliveryEndsInExactlyOneWayHoweverManyConnectionsAreReset() throws Exception {
        long seed = System.nanoTime(); // B02, B03, B04, B16
        List<String> arguments = new ArrayList<>(List.of("window=10"));
        for (int pipe = 0; pipe < PIPES; pipe++) {
            arguments.add("fill=p" + pipe + ":" + EVENTS + ":200");
        }
        ExecutorService threads = Executors.newFixedThreadPool(PIPES);
        try (EdgeProcess relay = EdgeProcess.start(data, arguments.toArray(String[]::new))) {
            List<CompletableFuture<Void>> storms = new ArrayList<>();
            for (int pipe = 0; pipe < PIPES; pipe++) {
                String name = "p" + pipe;
                Random random = new Random(seed + pipe);
                storms.add(CompletableFuture.runAsync(() -> storm(relay, name, random), threads));
            }
            for (CompletableFuture<Void> storm : storms) {
                storm.get(10, TimeUnit.MINUTES);
            }

            for (int pipe = 0; pipe < PIPES; pipe++) {
                drain(relay, "p" + pipe);
                assertThatDeliveriesAddUp(relay, "p" + pipe, seed);
            }
            assertThat(relay.said("ERROR")).as("seed %d", seed).isEmpty();
            assertThat(relay.metric("relay_edge_connections")).isZero();
        } finally {
            threads.shutdownNow();
        }
    }

    private static void storm(EdgeProcess relay, String pipe, Random random) {
        for (int round = 0; round < ROUNDS_PER_PIPE; round++) {
            try (RawClient client = RawClient.connect(relay.wsPort())) {
                client.sendText("BIND:" + pipe);
                if (random.nextInt(10) > 0) {
                    takeSome(client, random);
                }
                client.reset();
            } catch (IOException e) {
                throw new IllegalStateException("round " + round, e);
            }
        }
    }

    private static void takeSome(RawClient client, Random random) throws IOException {
        if (!client.next(PATIENCE).text().equals("READY")) {
            return; // the end of the one before it was not noticed yet
        }
        for (int left = random.nextInt(6); left > 0; left--) {
            RawClient.Frame event = client.read(Duration.ofMillis(200));
            if (event == null) {
                return;
            }
            if (random.nextInt(3) == 0) {
                client.sendText("ACK:" + event.eventId());
            }
        }
    }

    private static void drain(EdgeProcess relay, String pipe) throws Exception {
        try (RawClient client = bindOnceFree(relay, pipe)) {
            while (relay.status(pipe).path("floor").asLong() < EVENTS) {
                RawClient.Frame event = client.read(Duration.ofMillis(500));
                if (event != null) {
                    client.sendText("ACK:" + event.eventId());
                }
            }
        }
    }

    private static RawClient bindOnceFree(EdgeProcess relay, String pipe) throws Exception {
        relay.awaitUnbound(pipe);
        return relay.bind(pipe);
    }

    private static void assertThatDeliveriesAddUp(EdgeProcess relay, String pipe, long seed) throws Exception {
        relay.awaitStatus(pipe, "inFlight", 0);
        long first = relay.labelled("relay_pipe_delivered_events", pipe)
                - relay.labelled("relay_pipe_redelivered_events", pipe);
        assertThat(first)
                .as("each event has one first delivery: %s, seed %d", pipe, seed)
                .isEqualTo(EVENTS);
        assertThat(relay.labelled("relay_pipe_acked_events", pipe))
                .as("and is settled once: %s, seed %d", pipe, seed)
                .isEqualTo(EVENTS);
    }
}
