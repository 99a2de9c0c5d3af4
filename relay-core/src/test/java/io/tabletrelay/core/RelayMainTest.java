package io.tabletrelay.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class RelayMainTest {
    @Test
    void aMissingCommandIsAUsageErrorInOneLine() {
        CommandRun run = CommandRun.of();

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).isEqualToIgnoringNewLines("relay: no command given; see relay --help");
    }

    @Test
    void anUnknownOptionIsAUsageErrorInOneLine() {
        CommandRun run = CommandRun.of("serve", "--warp");

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).startsWith("relay: ").contains("--warp").hasLineCount(1);
    }

    @Test
    void aSettingOutOfRangeIsAUsageErrorThatNamesIt() {
        CommandRun run = CommandRun.of("serve", "--pipe-window", "0");

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).isEqualToIgnoringNewLines("relay: pipe-window=0 must be from 1 to 65536");
    }

    @Test
    void helpListsTheExitCodesOfEveryCommand() {
        assertThat(CommandRun.of("--help").out()).contains("3   the relay cannot start");
        assertThat(CommandRun.of("import", "--help").out()).contains("5   the relay cannot be reached");
    }

    @Test
    void aFlagBeatsTheEnvironmentWhichBeatsTheDefault(@TempDir Path data) {
        Map<String, String> environment =
                Map.of("RELAY_DATA", data.toString(), "RELAY_WS_PORT", "1", "RELAY_PIPE_WINDOW", "");

        ServeCommand serve = parsed(environment, "serve", "--ws-port", "2");

        assertThat(serve.config().dataDirectory()).isEqualTo(data);
        assertThat(serve.config().server().port()).isEqualTo(2);
        assertThat(serve.config().http().port()).isEqualTo(7071);
        assertThat(serve.config().delivery().windowEvents()).isEqualTo(10);
    }

    @Test
    void aLimitedPipeIsCutIntoFourSegmentsAtLeast() {
        ServeCommand serve = parsed(Map.of(), "serve", "--max-bytes", "100MiB", "--disk-reserve", "1GiB");

        assertThat(serve.config().store().maxBytes()).isEqualTo(100L << 20);
        assertThat(serve.config().store().segmentBytes()).isEqualTo(25L << 20);
        assertThat(serve.config().store().diskReserveBytes()).isEqualTo(1L << 30);
    }

    @Test
    void theBannerSaysWhereToGoNextOnTheRealPorts(@TempDir Path data) {
        String banner = ServeCommand.banner(
                parsed(Map.of("RELAY_DATA", data.toString()), "serve").config(), 5, 6);

        assertThat(banner)
                .contains(data.toString())
                .contains("ws://127.0.0.1:5")
                .contains("durability  process: confirmed events survive kill -9")
                .contains("./relay consume --pipe hello --server http://127.0.0.1:6 --ws-port 5");
    }

    private static ServeCommand parsed(Map<String, String> environment, String... arguments) {
        CommandLine.ParseResult result = RelayMain.commandLine(environment).parseArgs(arguments);
        return (ServeCommand) result.subcommand().commandSpec().userObject();
    }
}
