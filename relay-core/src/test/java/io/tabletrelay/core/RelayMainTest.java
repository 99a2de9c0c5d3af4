package io.tabletrelay.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

@Timeout(60) // a command line that is taken for a good one may run a relay for ever
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

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            value = {
                "serve --data=, data is empty",
                "consume --pipe=p --count=0, count=0 must be 1 or more",
                "consume --pipe=p --ws-port=0, ws-port=0 must be from 1 to 65535",
                "consume --pipe=p --ws-port=70000, ws-port=70000 must be from 1 to 65535",
                "consume --pipe=p --retry-for=-1, retry-for=-1 must be 0 or more",
                "consume --pipe=p --ws=http://127.0.0.1:7070, write it like ws://127.0.0.1:7070",
                "consume --pipe=p --ws=ws:relay, write it like ws://127.0.0.1:7070",
                "consume --pipe=p --server=http://127.0.0.1:70000, write it like http://127.0.0.1:7071",
                "consume --pipe=, pipe name is empty",
                "consume --pipe=a\u0007b, pipe name has an unprintable character: U+0007",
                "publish --type=json --pipe=, pipe name is empty",
                "publish --type=json --pipe=a\u0007b, pipe name has an unprintable character: U+0007",
                "import --type=json --pipe= rows, pipe name is empty",
                "import --type=json --pipe=a\u0007b rows, pipe name has an unprintable character: U+0007",
                "import --type=json --pipe=p --name= rows, producer name must be 1 to 200 bytes of text",
                "import --type=json --pipe=p --rows=0 rows, rows=0 must be 1 or more",
                "import --type=json --pipe=p --retry-for=-1 rows, retry-for=-1 must be 0 or more",
            })
    void anArgumentThatCannotBeMeantIsAUsageErrorInOneLine(String arguments, String message) {
        CommandRun run = CommandRun.of(arguments.split(" "));

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).startsWith("relay: ").contains(message).hasLineCount(1);
    }

    @Test
    void publishingToARelayThatIsNotThereHasTheExitCodeForThat(@TempDir Path folder) throws IOException {
        FakeHttpRelay gone = new FakeHttpRelay();
        gone.close();
        Path file = Files.writeString(folder.resolve("event"), "{}");

        CommandRun run =
                CommandRun.of("publish", "--pipe=plant", "--type=json", "--server=" + gone.address(), file.toString());

        assertThat(run.exitCode()).isEqualTo(5);
        assertThat(run.err())
                .startsWith("relay: cannot reach the relay: server=" + gone.address())
                .hasLineCount(1);
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
