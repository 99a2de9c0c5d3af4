package io.tabletrelay.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class TestConsumerTest {
    private static final Duration LONG = Duration.ofSeconds(20);

    @Test
    void anAckCountsAsReadOnceMoreEventsCameThanTheWindowPermitsWithoutIt() throws Exception {
        History history = new History();
        try (ScriptedRelay relay = new ScriptedRelay();
                TestConsumer consumer =
                        new TestConsumer("p", new TestConsumer.Behaviour(3, 0, true), relay::getPort, history, 1)) {
            await().atMost(LONG).until(() -> relay.lines().contains("BIND:p"));

            for (long id = 1; id <= 5; id++) {
                relay.push(id, "e-" + id);
            }

            await().atMost(LONG).until(() -> history.ackedEvents() == 5);
            assertThat(history.acksRead()).isEqualTo(2);
            relay.push(1, "e-1");
            relay.push(5, "e-5");
            await().atMost(LONG).until(() -> history.deliveries() == 7);
            assertThat(history.faults(0)).containsExactly("duplicate after ack: id=1");
            assertThat(consumer.bindings()).isEqualTo(1);
        }
    }
}
