package io.tabletrelay.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DlqCommandTest {
    private static final String LINE =
            "number=%d, eventId=7, subscription=a, reason=terminated, failedDeliveries=2, lastError=no such unit";

    private FakeHttpRelay relay;

    @BeforeEach
    void startRelay() throws IOException {
        relay = new FakeHttpRelay();
    }

    @AfterEach
    void stopRelay() {
        relay.close();
    }

    @Test
    void allPagesAreListed() {
        assertThat(run("ls", "plant").out().lines()).containsExactly(LINE.formatted(1), LINE.formatted(2));
        assertThat(run("ls", "--json", "plant").out())
                .startsWith("[{\"number\":1,")
                .contains("{\"number\":2,");
    }

    @Test
    void oneIsShown() {
        assertThat(run("show", "plant", "1").out()).contains("\"lastError\" : \"no such unit\"");
        assertThat(run("show", "--json", "plant", "1").out()).startsWith("{\"number\":1,");
    }

    @Test
    void aRedriveGoesOnUntilThereIsNoMore() {
        assertThat(run("redrive", "plant", "--all").out())
                .isEqualToIgnoringNewLines("redriven: pipe=plant, letters=512, without an event=2");
        assertThat(run("redrive", "plant", "1", "2", "--reason=max deliveries", "--json")
                        .out())
                .isEqualToIgnoringNewLines("{\"redriven\":512,\"passed\":2}");

        assertThat(relay.bodies())
                .containsSequence("POST /v1/pipes/plant/dead-letters/redrive?all=true")
                .contains("POST /v1/pipes/plant/dead-letters/redrive?numbers=1%2C2&reason=max%20deliveries");
    }

    @Test
    void aPurgeMustBeMeant() {
        assertThat(run("purge", "plant", "--subscription=a").exitCode()).isEqualTo(2);
        assertThat(relay.bodies()).isEmpty();

        assertThat(run("purge", "plant", "--subscription=a", "--yes").out())
                .isEqualToIgnoringNewLines("purged: pipe=plant, letters=4");
        assertThat(relay.bodies()).containsExactly("DELETE /v1/pipes/plant/dead-letters?subscription=a");
    }

    @Test
    void whatIsMeantMustBeSaid() {
        assertThat(run("redrive", "plant").err()).contains("which dead letters? give --all alone");
        assertThat(run("redrive", "plant", "--all", "1").exitCode()).isEqualTo(2);
        assertThat(run("purge", "plant", "--yes").exitCode()).isEqualTo(2);
        assertThat(run().exitCode()).isEqualTo(2);

        assertThat(relay.bodies()).isEmpty();
    }

    @Test
    void aRefusalAndAnUnreachableRelayEndWithTheirCodes() {
        CommandRun refused = run("redrive", "plant", "--subscription=gone");

        assertThat(refused.exitCode()).isEqualTo(4);
        assertThat(refused.err()).isEqualToIgnoringNewLines("relay: subscription is gone");
        relay.close();
        assertThat(run("ls", "plant").exitCode()).isEqualTo(5);
    }

    @Test
    void anEventIsExplained() {
        assertThat(run("explain", List.of("plant", "7")).out()).isEqualToIgnoringNewLines("event 7: null");
        assertThat(run("explain", List.of("plant", "7", "--subscription=a/b", "--json"))
                        .out())
                .isEqualToIgnoringNewLines("{\"text\":\"event 7: subscription=a%2Fb\"}");
        assertThat(run("explain", List.of("plant", "x")).exitCode()).isEqualTo(2);
    }

    private CommandRun run(String... arguments) {
        return run("dlq", List.of(arguments));
    }

    private CommandRun run(String command, List<String> arguments) {
        List<String> line = new ArrayList<>(List.of(command));
        line.addAll(arguments);
        if (!arguments.isEmpty()) {
            line.add("--server=" + relay.address());
        }
        return CommandRun.of(line.toArray(String[]::new));
    }
}
