package io.tabletrelay.harness.client;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/** Runs the examples of docs/clients in their interpreters; skips, and says why, where one is missing. */
final class ScriptRun {
    private static final Path FOLDER = Path.of("target", "client-examples").toAbsolutePath();
    private static final Path EXAMPLES = Path.of("..", "docs", "clients");
    private static final String WS = "ws@8.18.3";
    private static final String WEBSOCKETS = "websockets==15.0.1";

    private ScriptRun() {}

    /** Skips the test where the language cannot be had. */
    static void assumeInstalled(Language language) throws IOException, InterruptedException {
        Files.createDirectories(FOLDER);
        for (String file : List.of("consumer.mjs", "producer.mjs", "consumer.py", "producer.py")) {
            Files.copy(EXAMPLES.resolve(file), FOLDER.resolve(file), StandardCopyOption.REPLACE_EXISTING);
        }
        boolean there = switch (language) {
            case NODE_BUILT_IN ->
                succeeds(
                        "node",
                        "--experimental-websocket",
                        "-e",
                        "new WebSocket('ws://[::1]:1')" + ".onerror = () => {}");
            case NODE_WS ->
                Files.isDirectory(FOLDER.resolve("node_modules").resolve("ws"))
                        || succeeds("npm", "install", "--prefix", ".", "--no-audit", "--no-fund", "--no-save", WS);
            case PYTHON ->
                succeeds("python3", "-c", "import websockets.sync.client")
                        || succeeds("python3", "-m", "pip", "install", "--quiet", "--target", ".", WEBSOCKETS);
        };
        Assumptions.assumeTrue(there, language + " is missing or too old: its example is not tried");
    }

    /** Starts the script; it prints to the file. */
    static Process start(Language language, String script, Path output) throws IOException {
        return new ProcessBuilder(language.command(script))
                .directory(FOLDER.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
    }

    private static boolean succeeds(String... command) throws InterruptedException {
        try {
            Process process = new ProcessBuilder(command)
                    .directory(FOLDER.toFile())
                    .redirectErrorStream(true)
                    .start();
            try (InputStream output = process.getInputStream()) {
                output.readAllBytes();
            }
            if (process.waitFor(120, TimeUnit.SECONDS)) {
                return process.exitValue() == 0;
            }
            process.destroyForcibly();
            return false;
        } catch (IOException notFound) {
            return false;
        }
    }

    /** What an example needs. */
    enum Language {
        /** As a browser has it. */
        NODE_BUILT_IN {
            @Override
            List<String> command(String script) {
                return List.of("node", "--experimental-websocket", "--input-type=module", "-e", script);
            }
        },
        NODE_WS {
            @Override
            List<String> command(String script) {
                return List.of("node", "--input-type=module", "-e", "delete globalThis.WebSocket;\n" + script);
            }
        },
        PYTHON {
            @Override
            List<String> command(String script) {
                return List.of("python3", "-u", "-c", script);
            }
        };

        abstract List<String> command(String script);
    }
}
