package io.tabletrelay.harness.faults;

import static io.tabletrelay.harness.faults.TestRelay.PATIENCE;
import static io.tabletrelay.harness.faults.TestRelay.window;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the README tells readers to run does what it says. */
class ReadmeTest {
    private static final String PIPE = "hello";
    private static final List<String> EVENTS = List.of("{\"t\":1}", "{\"t\":2,\"name\":\"é\"}", "{\"t\":3}");

    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource
    void theConsumerPrintsEachEventAndAcksIt(Language language) throws Exception {
        assumeThat(language.isThere()).as("no interpreter: " + language.command).isTrue();
        try (TestRelay relay = TestRelay.start(folder.resolve("data"), window(10))) {
            Path script = folder.resolve(language.file);
            Files.writeString(script, block(language.fence).replace("7070", String.valueOf(relay.wsPort())));
            Path output = folder.resolve("output");
            Path errors = folder.resolve("errors");
            List<String> command = new ArrayList<>(language.commandLine());
            command.add(script.toString());
            Process consumer = new ProcessBuilder(command)
                    .redirectOutput(output.toFile())
                    .redirectError(errors.toFile())
                    .start();
            try {
                for (String event : EVENTS) {
                    relay.http().publish(PIPE, "json", Map.of(), ByteBuffer.wrap(event.getBytes(UTF_8)), null);
                }

                await("events are printed and acked").atMost(PATIENCE).untilAsserted(() -> {
                    assertThat(Files.readAllLines(output))
                            .as("errors: %s", Files.readString(errors))
                            .isEqualTo(EVENTS);
                    assertThat(relay.status(PIPE).path("floor").asInt()).isEqualTo(EVENTS.size());
                });
            } finally {
                consumer.destroyForcibly().waitFor();
            }
        }
    }

    @Test
    void theCurlLinePublishes() throws Exception {
        assumeThat(runs(List.of("curl", "--version"))).as("no curl").isTrue();
        String line = readme().lines()
                .filter(text -> text.startsWith("curl -sd "))
                .findFirst()
                .orElseThrow();
        try (TestRelay relay = TestRelay.start(folder.resolve("data"), window(10))) {
            String httpPort = String.valueOf(relay.httpAddress().getPort());
            Process curl = new ProcessBuilder("sh", "-c", line.replace("7071", httpPort)).start();
            String answer;
            try (InputStream out = curl.getInputStream()) {
                answer = new String(out.readAllBytes(), UTF_8);
            }

            assertThat(curl.waitFor()).isZero();
            assertThat(answer).contains("\"firstId\":1").contains("\"count\":1");
            try (BoundClient client = relay.bind(PIPE)) {
                assertThat(UTF_8.decode(client.event().event()).toString()).isEqualTo("{\"t\":1}");
            }
        }
    }

    private static String block(String fence) throws IOException {
        Matcher block =
                Pattern.compile("```" + fence + "\n(.*?)```", Pattern.DOTALL).matcher(readme());
        assertThat(block.find()).as("the README has a block of " + fence).isTrue();
        return block.group(1);
    }

    private static String readme() throws IOException {
        return Files.readString(Path.of("..", "README.md"));
    }

    private static boolean runs(List<String> command) throws InterruptedException {
        try {
            return new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException e) {
            return false;
        }
    }

    /** A language that the README has a consumer in. */
    private enum Language {
        PYTHON("python", "consume.py", "python3"),
        JAVASCRIPT("javascript", "consume.js", "node"),
        JAVA(
                "java",
                "Consume.java",
                Path.of(System.getProperty("java.home"), "bin", "java").toString());

        private static final String NODE_20_FLAG = "--experimental-websocket";

        private final String fence;
        private final String file;
        private final String command;

        Language(String fence, String file, String command) {
            this.fence = fence;
            this.file = file;
            this.command = command;
        }

        boolean isThere() throws InterruptedException {
            List<String> version = new ArrayList<>(commandLine());
            version.add("--version");
            return runs(version);
        }

        List<String> commandLine() throws InterruptedException {
            boolean flagged = this == JAVASCRIPT && !runs(List.of(command, "-e", "WebSocket"));
            return flagged ? List.of(command, NODE_20_FLAG) : List.of(command);
        }
    }
}
