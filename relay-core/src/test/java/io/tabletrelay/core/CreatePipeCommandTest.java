package io.tabletrelay.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CreatePipeCommandTest {
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
    void makesAPipeOnceAndIsRefusedWhereItHasOtherSettings() {
        CommandRun made = create("--tablet-format", "v1");
        CommandRun again = create("--tablet-format", "v1");
        CommandRun other = create();

        assertThat(made.exitCode()).isZero();
        assertThat(made.out()).isEqualToIgnoringNewLines("created: pipe=plant, settings={tablet-format=v1}");
        assertThat(again.exitCode()).isZero();
        assertThat(again.out())
                .isEqualToIgnoringNewLines("was there with these settings: pipe=plant, settings={tablet-format=v1}");
        assertThat(other.exitCode()).isEqualTo(4);
        assertThat(other.err()).isEqualToIgnoringNewLines("relay: pipe exists with other settings");
    }

    @Test
    void aCommandLineThatMakesNoSenseIsRefused() {
        assertThat(create("--tablet-format=v3").exitCode()).isEqualTo(2);
        assertThat(create("--tablet-format=v3").err())
                .startsWith("relay: no such value of a pipe setting: tablet-format=v3; allowed=[v1, v2]")
                .contains("see relay pipe create --help");
        assertThat(CommandRun.of("pipe").exitCode()).isEqualTo(2);
        assertThat(CommandRun.of("pipe").err())
                .isEqualToIgnoringNewLines("relay: no command given; see relay pipe --help");
        assertThat(CommandRun.of("pipe", "create", " ").exitCode()).isEqualTo(2);
    }

    @Test
    void aRelayThatIsNotThereIsToldSo() {
        relay.close();

        CommandRun run = create();

        assertThat(run.exitCode()).isEqualTo(5);
        assertThat(run.err()).contains("cannot reach the relay: server=" + relay.address());
    }

    private CommandRun create(String... options) {
        String[] arguments = new String[options.length + 4];
        System.arraycopy(options, 0, arguments, 4, options.length);
        arguments[0] = "pipe";
        arguments[1] = "create";
        arguments[2] = "plant";
        arguments[3] = "--server=" + relay.address();
        return CommandRun.of(arguments);
    }
}
