package io.tabletrelay.harness;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A relay in a JVM of its own, on the class path of this one, that can be killed, paused and stopped.
 *
 * <p>Threading: thread-safe; one daemon thread reads what the process prints.
 */
public final class RelayProcess implements AutoCloseable {
    /** The main class of {@code relay}. */
    public static final String RELAY_MAIN = "io.tabletrelay.core.RelayMain";

    private static final Pattern READY = Pattern.compile("ready ws=\\S+:(\\d+) http=\\S+:(\\d+)");
    private static final int KEPT_LINES = 2_000;
    private static final List<String> JVM_FLAGS = List.of(
            "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED",
            "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
            "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
            "-Djdk.nio.maxCachedBufferSize=262144",
            "-XX:-UsePerfData",
            "-XX:TieredStopAtLevel=1",
            "-Xmx256m");

    private final Process process;
    private final long startedNanos = System.nanoTime();
    private final List<String> output = new ArrayList<>();
    private final CountDownLatch readyOrEnded = new CountDownLatch(1);
    private final Thread reader;
    private long readyNanos;
    private int wsPort;
    private int httpPort;

    private RelayProcess(Process process, Consumer<String> lines) {
        this.process = process;
        reader = new Thread(() -> readOutput(lines), "relay-" + process.pid() + "-output");
        reader.setDaemon(true);
        reader.start();
    }

    /** Starts {@code relay serve} with these further arguments, on free ports unless they name some; returns at once. */
    public static RelayProcess serve(Path data, String... arguments) throws IOException {
        List<String> all = new ArrayList<>(List.of("serve", "--data=" + data));
        all.addAll(List.of(arguments));
        for (String port : List.of("--ws-port=", "--http-port=")) {
            if (all.stream().noneMatch(argument -> argument.startsWith(port))) {
                all.add(port + "0");
            }
        }
        return start(RELAY_MAIN, all, line -> {});
    }

    /**
     * Starts any main class and returns at once.
     *
     * @param lines gets each line that the process prints, also those it printed just before it was killed
     */
    public static RelayProcess start(String mainClass, List<String> arguments, Consumer<String> lines)
            throws IOException {
        return start(List.of(), List.of(), mainClass, arguments, lines);
    }

    /**
     * Starts any main class and returns at once.
     *
     * @param launcher the command that starts the one behind it in the same process, for example with another limit
     * @param jvmFlags stand behind the usual ones
     * @param lines gets each line that the process prints, also those it printed just before it was killed
     */
    public static RelayProcess start(
            List<String> launcher,
            List<String> jvmFlags,
            String mainClass,
            List<String> arguments,
            Consumer<String> lines)
            throws IOException {
        List<String> command = new ArrayList<>(launcher);
        command.add(ProcessHandle.current().info().command().orElse("java"));
        command.addAll(JVM_FLAGS);
        command.addAll(jvmFlags);
        if (Runtime.version().feature() >= 24) {
            command.add("--enable-native-access=ALL-UNNAMED");
            command.add("--sun-misc-unsafe-memory-access=allow");
        }
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), mainClass));
        command.addAll(arguments);
        return new RelayProcess(
                new ProcessBuilder(command).redirectErrorStream(true).start(), lines);
    }

    /** Waits until the relay says that it is ready, and returns how long that took from the start of the process. */
    public Duration awaitReady(Duration timeout) throws InterruptedException {
        boolean inTime = readyOrEnded.await(timeout.toMillis(), TimeUnit.MILLISECONDS);
        synchronized (output) {
            if (!inTime || wsPort == 0) {
                throw new IllegalStateException("relay is not ready: pid=" + process.pid() + ", alive="
                        + process.isAlive() + ", output:\n" + String.join("\n", output));
            }
            return Duration.ofNanos(readyNanos - startedNanos);
        }
    }

    public int wsPort() {
        synchronized (output) {
            return wsPort;
        }
    }

    /** The HTTP side's address. */
    public URI http() {
        synchronized (output) {
            return URI.create("http://127.0.0.1:" + httpPort);
        }
    }

    public long pid() {
        return process.pid();
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** CPU time that the process has used so far. */
    public Duration cpuTime() {
        return process.info().totalCpuDuration().orElse(Duration.ZERO);
    }

    /** Lets the process run for this long; it must not end by itself meanwhile. */
    public void runFor(Duration duration) throws InterruptedException {
        if (process.waitFor(duration.toMillis(), TimeUnit.MILLISECONDS)) {
            reader.join();
            throw new IllegalStateException("relay ended by itself: pid=" + process.pid() + ", exitCode="
                    + process.exitValue() + ", output:\n" + String.join("\n", output()));
        }
    }

    /** SIGKILL. Returns when the process is gone and all that it had printed was read. */
    public void kill() throws InterruptedException {
        destroyForcibly();
        process.waitFor();
        reader.join();
    }

    /** SIGTERM, and the exit code. */
    public int terminate(Duration timeout) throws InterruptedException {
        process.toHandle().destroy();
        return exitCode(timeout);
    }

    /** SIGSTOP: the process does nothing, and its sockets stay open. */
    public void pause() throws IOException, InterruptedException {
        signal("STOP");
    }

    /** SIGCONT. */
    public void resume() throws IOException, InterruptedException {
        signal("CONT");
    }

    /** Waits for the process to end by itself. */
    public int exitCode(Duration timeout) throws InterruptedException {
        if (!process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new IllegalStateException("relay has not ended: pid=" + process.pid() + ", waited=" + timeout);
        }
        reader.join();
        return process.exitValue();
    }

    /** The last lines that the process printed, to standard output and standard error. */
    public List<String> output() {
        synchronized (output) {
            return List.copyOf(output);
        }
    }

    private void signal(String name) throws IOException, InterruptedException {
        int exitCode = new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid()))
                .inheritIO()
                .start()
                .waitFor();
        if (exitCode != 0) {
            throw new IOException("signal could not be sent: signal=" + name + ", pid=" + process.pid());
        }
    }

    private void readOutput(Consumer<String> lines) {
        try (BufferedReader in =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (@Nullable String line = in.readLine(); line != null; line = in.readLine()) {
                keep(line);
                lines.accept(line);
            }
        } catch (IOException e) {
            keep("output ended: " + e.getMessage());
        } finally {
            readyOrEnded.countDown();
        }
    }

    private void keep(String line) {
        synchronized (output) {
            output.add(line);
            if (output.size() > KEPT_LINES) {
                output.remove(0);
            }
            Matcher ready = READY.matcher(line);
            if (ready.matches()) {
                readyNanos = System.nanoTime();
                wsPort = Integer.parseInt(ready.group(1));
                httpPort = Integer.parseInt(ready.group(2));
                readyOrEnded.countDown();
            }
        }
    }

    /** Kills the process if it still runs. */
    @Override
    public void close() {
        destroyForcibly();
    }

    /** By the handle: Process itself would close the stream with what was printed and not yet read. */
    private void destroyForcibly() {
        process.toHandle().destroyForcibly();
    }
}
