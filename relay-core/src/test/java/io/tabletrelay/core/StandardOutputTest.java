package io.tabletrelay.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Commands as processes of their own, whose standard output does not take what they print. */
class StandardOutputTest {
    private static final String FULL = "/dev/full";
    private static final int EVENTS = 600;

    @TempDir
    private Path folder;

    @Test
    void whatAReaderThatLeftDidNotTakeIsNotAcked() throws Exception {
        FakeWebSocketRelay relay = new FakeWebSocketRelay(
                0, Collections.nCopies(EVENTS, "x".repeat(1000)).toArray(String[]::new));
        Process consume = start(Redirect.PIPE, "consume", "--pipe=p", "--ws=" + relay.address());

        try (InputStream out = consume.getInputStream()) {
            assertThat(out.read()).isEqualTo('x');
        }

        assertThat(exitCode(consume)).isEqualTo(1);
        assertThat(err()).hasLineCount(1).contains("cannot print", "the last event is not acked");
        relay.stop();
        List<Long> acked = relay.ackedIds();
        assertThat(acked).hasSizeLessThan(EVENTS);
        assertThat(acked)
                .containsExactlyElementsOf(
                        LongStream.rangeClosed(1, acked.size()).boxed().toList());
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void nothingIsAckedWhenStandardOutputIsFull() throws Exception {
        FakeWebSocketRelay relay = new FakeWebSocketRelay(0, "one", "two");

        Process consume = start(Redirect.to(new File(FULL)), "consume", "--pipe=p", "--ws=" + relay.address());

        assertThat(exitCode(consume)).isEqualTo(1);
        assertThat(err()).hasLineCount(1).contains("cannot print", "the last event is not acked");
        relay.stop();
        assertThat(relay.ackedIds()).isEmpty();
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aResultThatCannotBePrintedIsAFailureOfItsCommand() throws Exception {
        Path file = Files.writeString(folder.resolve("rows.csv"), "t,v\n1,a\n");
        try (FakeHttpRelay relay = new FakeHttpRelay()) {
            for (String command : List.of("publish", "import")) {
                Process process = start(
                        Redirect.to(new File(FULL)),
                        command,
                        "--pipe=plant",
                        "--type=csv",
                        "--server=" + relay.address(),
                        file.toString());

                assertThat(exitCode(process)).as(command).isEqualTo(1);
                assertThat(err()).as(command).hasLineCount(1).contains("cannot print");
            }
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void helpThatCannotBePrintedIsAFailureToo() throws Exception {
        Process help = start(Redirect.to(new File(FULL)), "consume", "--help");

        assertThat(exitCode(help)).isEqualTo(1);
        assertThat(err()).hasLineCount(1).contains("cannot print");
    }

    private Process start(Redirect out, String... arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx128m", "-cp"));
        command.add(System.getProperty("java.class.path"));
        command.add(RelayMain.class.getName());
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command)
                .redirectOutput(out)
                .redirectError(errFile().toFile())
                .start();
    }

    private static int exitCode(Process process) throws InterruptedException {
        boolean ended = process.waitFor(20, TimeUnit.SECONDS);
        process.destroyForcibly();
        assertThat(ended).as("the command ended by itself").isTrue();
        return process.exitValue();
    }

    private String err() throws IOException {
        return Files.readString(errFile(), StandardCharsets.UTF_8);
    }

    private Path errFile() {
        return folder.resolve("err");
    }
}
