package io.tabletrelay.harness.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.tabletrelay.core.client.RelayHttp;
import io.tabletrelay.harness.History;
import io.tabletrelay.harness.RelayProcess;
import io.tabletrelay.harness.RestartingRelay;
import io.tabletrelay.harness.TestConsumer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A relay with two subscriptions is killed: each has what it had. */
class KilledSubscriptionsIT {
    private static final String PIPE = "orders";
    private static final int EVENTS = 50;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    private Path data;

    @Test
    void eachSubscriptionHasAfterAKillWhatItHadBefore() throws Exception {
        History history = new History();
        try (RestartingRelay relay = new RestartingRelay(run -> RelayProcess.serve(data, "--disk-reserve=0"))) {
            relay.awaitReady(PATIENCE);
            for (int i = 1; i <= EVENTS; i++) {
                http(relay).publish(PIPE, "json", Map.of(), bytes("{\"n\":" + i + "}"), null);
            }
            assertThat(http(relay).subscriptions(PIPE).path("subscriptions")).isEmpty();
            http(relay).createSubscription(PIPE, "analytics", "11");
            http(relay).createSubscription(PIPE, "gone", "latest");
            try (TestConsumer consumer =
                    new TestConsumer(PIPE, new TestConsumer.Behaviour(10, 0, false), relay::wsPort, history, 1)) {
                await("default has all").atMost(PATIENCE).until(() -> backlog(relay, "default") == 0);
                assertThat(consumer.bindings()).isEqualTo(1);
            }
            http(relay).deleteSubscription(PIPE, "gone");

            restart(relay);

            assertThat(http(relay).subscriptions(PIPE).path("subscriptions")).hasSize(2);
            assertThat(backlog(relay, "default")).isZero();
            assertThat(backlog(relay, "analytics")).isEqualTo(EVENTS - 10);

            await("default has no consumer")
                    .atMost(PATIENCE)
                    .untilAsserted(() -> http(relay).resetSubscription(PIPE, "default", "31"));
            http(relay).deleteSubscription(PIPE, "analytics");
            restart(relay);

            assertThat(http(relay).subscriptions(PIPE).path("subscriptions")).hasSize(1);
            assertThat(backlog(relay, "default")).isEqualTo(EVENTS - 30);
        }
    }

    private static void restart(RestartingRelay relay) throws Exception {
        relay.kill();
        relay.start();
        relay.awaitReady(PATIENCE);
    }

    private static long backlog(RestartingRelay relay, String name) throws Exception {
        for (JsonNode each : http(relay).subscriptions(PIPE).path("subscriptions")) {
            if (each.path("name").asText().equals(name)) {
                return each.path("backlog").asLong();
            }
        }
        return -1;
    }

    private static RelayHttp http(RestartingRelay relay) {
        return new RelayHttp(relay.http());
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }
}
