package io.tabletrelay.harness.edge;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;

/**
 * Consumers on Node's {@code ws}, all in one process; needs node, npm and its registry.
 *
 * <p>Threading: made and closed by the test; one daemon thread reads what the process prints.
 */
final class NodeClients implements AutoCloseable {
    private static final Path FOLDER = Path.of("target", "node").toAbsolutePath();
    private static final String WS = "ws@8.18.3";

    private final Map<String, Consumed> consumers = new HashMap<>();
    private final Process process;

    NodeClients(int port, List<Consumed> consumers) throws IOException {
        List<String> command = new ArrayList<>(List.of("node", "clients.js", String.valueOf(port)));
        for (Consumed consumer : consumers) {
            this.consumers.put(consumer.pipe(), consumer);
            command.add((consumer.acking() ? "ack:" : "hold:") + consumer.pipe());
        }
        process = new ProcessBuilder(command)
                .directory(FOLDER.toFile())
                .redirectErrorStream(true)
                .start();
        Thread reader = new Thread(this::read, "node-output");
        reader.setDaemon(true);
        reader.start();
        var unused = consumers.get(0).readsOn().thenRun(this::goOn);
    }

    /** Skips the test, saying why, where there is no node or {@code ws} cannot be had. */
    static void assumeInstalled() throws IOException, InterruptedException {
        Assumptions.assumeTrue(run(Path.of("."), "node", "--version"), "node is missing: its clients are not tried");
        Files.createDirectories(FOLDER);
        try (InputStream script = NodeClients.class.getResourceAsStream("clients.js")) {
            if (script == null) {
                throw new IOException("clients.js is missing");
            }
            Files.write(FOLDER.resolve("clients.js"), script.readAllBytes());
        }
        boolean there = Files.isDirectory(FOLDER.resolve("node_modules").resolve("ws"))
                || run(FOLDER, "npm", "install", "--prefix", ".", "--no-audit", "--no-fund", "--no-save", WS);
        Assumptions.assumeTrue(there, WS + " could not be installed: node's clients are not tried");
    }

    private static boolean run(Path folder, String... command) throws InterruptedException {
        try {
            Process process = new ProcessBuilder(command)
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            if (process.waitFor(120, TimeUnit.SECONDS)) {
                return process.exitValue() == 0;
            }
            process.destroyForcibly();
            return false;
        } catch (IOException notFound) {
            return false;
        }
    }

    private void goOn() {
        try {
            process.getOutputStream().write('\n');
            process.getOutputStream().flush();
        } catch (IOException e) {
            consumers.values().forEach(consumer -> consumer.failed(e.toString()));
        }
    }

    private void read() {
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (@Nullable String line = lines.readLine(); line != null; line = lines.readLine()) {
                take(line.split(" ", 4), line);
            }
        } catch (IOException e) {
            consumers.values().forEach(consumer -> consumer.failed(e.toString()));
        }
    }

    private void take(String[] words, String line) {
        Consumed consumer = words.length < 3 ? null : consumers.get(words[1]);
        if (consumer == null) {
            consumers.values().forEach(each -> each.failed("node says: " + line));
            return;
        }
        switch (words[0]) {
            case "line" -> consumer.line(words[2]);
            case "event" -> consumer.event(Long.parseLong(words[2]), words[3]);
            case "closed" -> consumer.closed(Integer.parseInt(words[2]));
            default -> consumer.failed("node says: " + line);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
        process.onExit().orTimeout(30, TimeUnit.SECONDS).join();
    }
}
