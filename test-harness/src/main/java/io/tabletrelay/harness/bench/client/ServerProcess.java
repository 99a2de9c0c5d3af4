package io.tabletrelay.harness.bench.client;

import io.tabletrelay.core.client.RelayHttp;
import io.tabletrelay.harness.bench.server.BenchServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One server in a JVM of its own, on the class path of this one: opened for each round, so that it is warm and its data new.
 *
 * <p>Threading: used by one thread; a daemon thread reads what the process prints.
 */
public final class ServerProcess implements AutoCloseable {
    /** The pipe that all rounds use. */
    public static final String PIPE = "bench";

    private static final int KEPT_LINES = 200;
    private static final Duration ANSWER_TIMEOUT = Duration.ofMinutes(3);
    private static final Duration SETTLE_TIMEOUT = Duration.ofSeconds(30);
    private static final int STOP_SECONDS = 30;
    private static final String ENDED = "! process ended";
    /** As the launcher has them, with a heap that is the same on each machine. */
    private static final List<String> JVM_FLAGS = List.of(
            "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED",
            "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
            "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
            "-Djdk.nio.maxCachedBufferSize=262144",
            "-Djava.awt.headless=true",
            "-XX:-UsePerfData",
            "-Xmx512m");

    private final Variant variant;
    private final Process process;
    private final LinkedBlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private final List<String> output = new ArrayList<>();
    private int wsPort;
    private int httpPort;

    /**
     * Starts the process.
     *
     * @param data a folder for what it stores
     * @param recording where it records a profile of itself until it ends, or null
     */
    public ServerProcess(Variant variant, Path data, int eventBytes, int windowEvents, @Nullable Path recording)
            throws IOException {
        this.variant = variant;
        List<String> command = new ArrayList<>();
        command.add(ProcessHandle.current().info().command().orElse("java"));
        command.addAll(JVM_FLAGS);
        if (Runtime.version().feature() >= 24) {
            command.add("--enable-native-access=ALL-UNNAMED");
            command.add("--sun-misc-unsafe-memory-access=allow");
        }
        if (recording != null) {
            command.add("-XX:StartFlightRecording=settings=profile,dumponexit=true,filename=" + recording);
        }
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), BenchServer.class.getName()));
        command.addAll(
                List.of(variant.server(), data.toString(), String.valueOf(eventBytes), String.valueOf(windowEvents)));
        this.process = new ProcessBuilder(command).redirectErrorStream(true).start();
        Thread reader = new Thread(this::readOutput, "bench-" + process.pid() + "-output");
        reader.setDaemon(true);
        reader.start();
    }

    /** Makes it new: nothing stored, nobody connected. */
    public void open() throws IOException, InterruptedException {
        String[] ports = ask("open").split(" ", -1);
        wsPort = Integer.parseInt(ports[0]);
        httpPort = Integer.parseInt(ports[1]);
    }

    /** Takes what was opened apart and deletes its data. */
    public void shut() throws IOException, InterruptedException {
        ask("close");
    }

    public int wsPort() {
        return wsPort;
    }

    public URI http() {
        return URI.create("http://127.0.0.1:" + httpPort);
    }

    /** Begins to send that many events as fast as it goes. */
    public void push(long events) throws IOException, InterruptedException {
        ask("push " + events);
    }

    /** Begins to send that many events at this rate. */
    public void pace(int eventsPerSecond, long events) throws IOException, InterruptedException {
        ask("pace " + eventsPerSecond + " " + events);
    }

    /** Waits until all is handed over, or stored, and returns how long that took. */
    public long awaitPushed() throws IOException, InterruptedException {
        return Long.parseLong(ask("await"));
    }

    /** Waits until it has read the acks of that many events; a server that loses some is no measure of anything. */
    public void awaitSettled(long events) throws IOException, InterruptedException {
        long endNanos = System.nanoTime() + SETTLE_TIMEOUT.toNanos();
        long settled = settled();
        while (settled < events && System.nanoTime() < endNanos) {
            TimeUnit.MILLISECONDS.sleep(1);
            settled = settled();
        }
        if (settled != events) {
            throw new IOException(
                    "acks were lost: variant=" + variant.label() + ", events=" + events + ", settled=" + settled);
        }
    }

    private long settled() throws IOException, InterruptedException {
        return httpPort == 0
                ? Long.parseLong(ask("settled"))
                : new RelayHttp(http()).pipe(PIPE).path("floor").asLong();
    }

    public Usage usage() throws IOException, InterruptedException {
        String[] numbers = ask("usage").split(" ", -1);
        return new Usage(
                Long.parseLong(numbers[0]),
                Long.parseLong(numbers[1]),
                Long.parseLong(numbers[2]),
                Long.parseLong(numbers[3]));
    }

    private String ask(String command) throws IOException, InterruptedException {
        try {
            process.getOutputStream().write((command + "\n").getBytes(StandardCharsets.UTF_8));
            process.getOutputStream().flush();
        } catch (IOException e) {
            throw new IOException(failure(command, "it has ended"), e);
        }
        String answer = answers.poll(ANSWER_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        if (answer == null || !answer.startsWith("= ")) {
            throw new IOException(failure(command, String.valueOf(answer)));
        }
        return answer.substring(2);
    }

    private String failure(String command, String answer) {
        synchronized (output) {
            return "server could not do as told: variant=" + variant.label() + ", command=" + command + ", answer="
                    + answer + ", output:\n" + String.join("\n", output);
        }
    }

    private void readOutput() {
        try (BufferedReader in =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (@Nullable String line = in.readLine(); line != null; line = in.readLine()) {
                if (line.startsWith("= ") || line.startsWith("! ")) {
                    answers.add(line);
                } else {
                    keep(line);
                }
            }
        } catch (IOException e) {
            keep("output ended: " + e.getMessage());
        } finally {
            answers.add(ENDED);
        }
    }

    private void keep(String line) {
        synchronized (output) {
            output.add(line);
            if (output.size() > KEPT_LINES) {
                output.remove(0);
            }
        }
    }

    /** Ends the process in order, so that it writes its recording; kills it if it does not end. */
    @Override
    public void close() {
        try {
            process.getOutputStream().close();
            process.waitFor(STOP_SECONDS, TimeUnit.SECONDS);
        } catch (IOException e) {
            keep("input could not be closed: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            process.toHandle().destroyForcibly();
        }
    }
}
