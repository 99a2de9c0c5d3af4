package io.tabletrelay.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ReleasedClientTest {
    private static final Duration LONG = Duration.ofSeconds(20);

    private ScriptedRelay relay;
    private ReleasedClient client;

    @BeforeEach
    void start() throws Exception {
        relay = new ScriptedRelay();
        client = new ReleasedClient("p", relay::getPort);
        await().atMost(LONG).until(() -> relay.lines().contains("BIND:p"));
    }

    @AfterEach
    void stop() throws Exception {
        client.close();
        relay.close();
    }

    @Test
    void answersNoPingWhileItsBufferIsFull() throws Exception {
        for (int id = 1; id <= 11; id++) {
            relay.push(id, "e");
        }
        relay.ping();
        assertThat(relay.lines()).doesNotContain("pong");
        await().pollDelay(Duration.ofMillis(500))
                .atMost(LONG)
                .until(() -> !relay.lines().contains("pong"));

        assertThat(client.poll(LONG)).isNotNull();

        await().atMost(LONG).until(() -> relay.lines().contains("pong"));
    }

    @Test
    void bindsAgainWithoutWaitingForReadyAndAcksOldEventsThere() throws Exception {
        relay.push(7, "e");
        RawClient.Frame event = client.poll(LONG);
        relay.answerToBind("nothing it would wait for");

        client.breakConnection();

        await().atMost(LONG).until(() -> client.connections() == 2);
        await().atMost(LONG)
                .until(() -> client.ack(Objects.requireNonNull(event).eventId()));
        await().atMost(LONG).until(() -> relay.lines().contains("ACK:7"));
        relay.push(8, "f");
        assertThat(client.poll(LONG)).extracting(RawClient.Frame::eventId).isEqualTo(8L);
    }
}
