package io.tabletrelay.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SubscriptionCommandTest {
    private static final String LINE =
            "subscription=a/b, start=3, floor=2, deliveredUpTo=0, backlog=9, inFlight=0, waiting=0, consumers=0";

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
    void eachCommandAsksTheRelayForWhatItSays() {
        assertThat(run("ls", "plant").out()).isEqualToIgnoringNewLines(LINE);
        assertThat(run("create", "plant", "a/b").out()).isEqualToIgnoringNewLines(LINE);
        assertThat(run("reset", "plant", "a/b", "--start", "12").out()).isEqualToIgnoringNewLines(LINE);
        assertThat(run("delete", "plant", "a/b").out())
                .isEqualToIgnoringNewLines("deleted: pipe=plant, subscription=a/b");

        assertThat(relay.bodies())
                .containsExactly(
                        "GET /v1/pipes/plant/subscriptions ",
                        "PUT /v1/pipes/plant/subscriptions/a%2Fb {\"start\":\"earliest\"}",
                        "POST /v1/pipes/plant/subscriptions/a%2Fb/reset {\"start\":\"12\"}",
                        "DELETE /v1/pipes/plant/subscriptions/a%2Fb ");
    }

    @Test
    void theAnswerCanBePrintedAsJson() {
        assertThat(run("ls", "--json", "plant").out())
                .isEqualToIgnoringNewLines(
                        "{\"subscriptions\":[{\"name\":\"a/b\",\"start\":3,\"floor\":2,\"backlog\":9}]}");
    }

    @Test
    void aRefusalAndABadCommandLineEndWithTheirCodes() {
        CommandRun refused = run("reset", "plant", "busy");

        assertThat(refused.exitCode()).isEqualTo(4);
        assertThat(refused.err()).isEqualToIgnoringNewLines("relay: subscription has a consumer");
        assertThat(run("create", "plant").exitCode()).isEqualTo(2);
        assertThat(run().exitCode()).isEqualTo(2);
        relay.close();
        assertThat(run("ls", "plant").exitCode()).isEqualTo(5);
    }

    private CommandRun run(String... arguments) {
        List<String> line = new ArrayList<>(List.of("subscription"));
        line.addAll(List.of(arguments));
        if (arguments.length > 0) {
            line.add("--server=" + relay.address());
        }
        return CommandRun.of(line.toArray(String[]::new));
    }
}
