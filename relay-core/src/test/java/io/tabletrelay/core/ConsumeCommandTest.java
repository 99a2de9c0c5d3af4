package io.tabletrelay.core;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ConsumeCommandTest {
    @Test
    void printsEachEventAcksItAndEndsAfterTheCount() throws InterruptedException {
        FakeWebSocketRelay relay = new FakeWebSocketRelay(0, "{\"t\":1}", "zwei\n", "drei");

        CommandRun run = CommandRun.of("consume", "--pipe=p", "--count=2", "--ws=" + relay.address());

        relay.stop();
        assertThat(run.exitCode()).isZero();
        assertThat(run.out().lines()).containsExactly("{\"t\":1}", "zwei");
        assertThat(relay.ackedIds()).containsExactly(1L, 2L);
    }

    @Test
    void connectsAgainAfterALossAndPrintsNothingTwice() throws InterruptedException {
        FakeWebSocketRelay relay = new FakeWebSocketRelay(2, "one", "two", "three");

        CommandRun run = CommandRun.of("consume", "--pipe=p", "--count=3", "--ws=" + relay.address());

        relay.stop();
        assertThat(run.exitCode()).isZero();
        assertThat(run.out().lines()).containsExactly("one", "two", "three");
        assertThat(relay.ackedIds()).contains(1L, 2L, 3L);
        assertThat(run.err()).contains("trying again").hasLineCount(1);
    }

    @Test
    void givesUpOnARelayThatIsNotThereWhenTheTimeIsUp() throws InterruptedException {
        FakeWebSocketRelay relay = new FakeWebSocketRelay(0);
        String address = relay.address().toString();
        relay.stop();

        CommandRun run = CommandRun.of("consume", "--pipe=p", "--retry-for=0", "--ws=" + address);

        assertThat(run.exitCode()).isEqualTo(5);
        assertThat(run.err()).contains("cannot connect to the relay: ws=" + address);
    }
}
