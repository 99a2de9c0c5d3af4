package io.tabletrelay.core.store;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A Java process of its own that runs a main class of the tests, to be killed.
 *
 * <p>Threading: confined to the test's thread.
 */
public final class ChildJvm implements AutoCloseable {
    private final Process process;
    private final BufferedReader output;

    private ChildJvm(Process process) {
        this.process = process;
        this.output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    public static ChildJvm start(Class<?> main, String... arguments) throws IOException {
        return start(List.of(), main, arguments);
    }

    /** What Chronicle needs of a JVM, as this one was given it. */
    public static List<String> moduleOptions() {
        return ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(option -> option.startsWith("--add-"))
                .toList();
    }

    public static ChildJvm start(List<String> options, Class<?> main, String... arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx128m"));
        command.addAll(options);
        command.add("-cp");
        command.add(System.getProperty("java.class.path"));
        command.add(main.getName());
        command.addAll(List.of(arguments));
        return new ChildJvm(
                new ProcessBuilder(command).redirectErrorStream(true).start());
    }

    /** Waits for the next line that it prints; "" at the end of its output. */
    public String readLine() throws IOException {
        String line = output.readLine();
        return line == null ? "" : line;
    }

    /** What it printed last, once it has ended. */
    public String lastLine() throws IOException {
        String last = "";
        for (String line = readLine(); !line.isEmpty(); line = readLine()) {
            last = line;
        }
        return last;
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    public long pid() {
        return process.pid();
    }

    /** SIGKILL; returns when the process is gone. */
    public void kill() {
        process.destroyForcibly();
        process.onExit().orTimeout(30, TimeUnit.SECONDS).join();
    }

    @Override
    public void close() {
        kill();
    }
}
