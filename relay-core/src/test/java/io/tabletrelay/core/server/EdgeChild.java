package io.tabletrelay.core.server;

import io.tabletrelay.core.config.ServerConfig;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * An edge in a process that may have few open files only. It is told what to do by lines and answers each with one:
 * {@code fill} takes all handles there are, {@code free} gives them back, {@code connections}, {@code stop}.
 *
 * <p>Threading: used by one thread.
 */
final class EdgeChild implements AutoCloseable {
    private final Process process;
    private final BufferedReader output;
    private final List<String> lines = new ArrayList<>();
    private final int port;

    EdgeChild(int maxOpenFiles) throws IOException {
        process = new ProcessBuilder(
                        "sh",
                        "-c",
                        "ulimit -n " + maxOpenFiles + " && exec \"$@\"",
                        "sh",
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-Xmx128m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        EdgeChild.class.getName())
                .redirectErrorStream(true)
                .start();
        output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        port = Integer.parseInt(line("port ").split(" ", -1)[1]);
    }

    int port() {
        return port;
    }

    String ask(String command) throws IOException {
        process.getOutputStream().write((command + "\n").getBytes(StandardCharsets.UTF_8));
        process.getOutputStream().flush();
        return line(command + " ").substring(command.length() + 1);
    }

    /** Reads on to the next line with this in it. */
    String line(String part) throws IOException {
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            lines.add(line);
            if (line.contains(part)) {
                return line;
            }
        }
        throw new IOException("no more lines, none with '" + part + "': " + lines);
    }

    /** All lines read so far. */
    String said() {
        return String.join("\n", lines);
    }

    @Override
    public void close() {
        process.destroyForcibly();
        process.onExit().orTimeout(30, TimeUnit.SECONDS).join();
    }

    /** The child's side. */
    public static void main(String[] arguments) throws IOException {
        RelayServer server =
                new RelayServer(many(), StubPipe::new, new StubIntake(), EdgeEvents.NONE, System::nanoTime);
        server.start();
        System.out.println("port " + server.port());
        List<SocketChannel> taken = new ArrayList<>();
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String command = commands.readLine(); command != null; command = commands.readLine()) {
            String answer = switch (command) {
                case "fill" -> fill(taken);
                case "free" -> free(taken);
                case "connections" -> server.connections() + " " + server.listening();
                default -> {
                    server.stop(Duration.ofSeconds(1));
                    yield "done";
                }
            };
            System.out.println(command + " " + answer);
        }
        server.stop(Duration.ZERO); // the test is gone
    }

    private static ServerConfig many() {
        ServerConfig patient = EdgeRig.PATIENT;
        return new ServerConfig(
                patient.host(),
                0,
                10_000,
                patient.handshakeTimeout(),
                patient.heartbeat(),
                patient.heartbeatTimeout(),
                patient.maxUnsentBytes(),
                patient.slowConsumerTimeout());
    }

    private static String fill(List<SocketChannel> taken) {
        try {
            while (true) {
                taken.add(SocketChannel.open());
            }
        } catch (IOException e) {
            return e.toString();
        }
    }

    private static String free(List<SocketChannel> taken) throws IOException {
        for (SocketChannel channel : taken) {
            channel.close();
        }
        taken.clear();
        return "done";
    }
}
