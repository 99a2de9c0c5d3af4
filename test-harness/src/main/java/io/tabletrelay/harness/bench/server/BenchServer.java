package io.tabletrelay.harness.bench.server;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The main class of a server process: obeys commands on standard input, each with one line that begins with {@code "= "}, or
 * {@code "! "} if it could not be done. It ends with its input.
 *
 * <p>{@code open} · {@code push n} · {@code pace rate n} · {@code await}: the push has ended · {@code settled} ·
 * {@code usage} · {@code close}.
 *
 * <p>Threading: confined to the main thread, but for what is pushed.
 */
public final class BenchServer {
    private final String variant;
    private final Path data;
    private final Load load;
    private int opened;
    private @Nullable ServedVariant served;
    private CompletableFuture<Long> pushed = CompletableFuture.completedFuture(0L);

    private BenchServer(String variant, Path data, Load load) {
        this.variant = variant;
        this.data = data;
        this.load = load;
    }

    /** Arguments: variant, data folder, bytes of an event, window. */
    public static void main(String[] arguments) throws IOException {
        Load load = new Load(Integer.parseInt(arguments[2]), Integer.parseInt(arguments[3]));
        new BenchServer(arguments[0], Path.of(arguments[1]), load).obey();
        System.exit(0);
    }

    private void obey() throws IOException {
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String answer;
            try {
                answer = "= " + answer(line.split(" ", -1));
            } catch (IOException | InterruptedException | RuntimeException e) {
                Throwable cause = e instanceof CompletionException && e.getCause() != null ? e.getCause() : e;
                answer = "! " + String.valueOf(cause).replace('\n', ' ');
            }
            System.out.println(answer);
        }
    }

    private String answer(String[] command) throws IOException, InterruptedException {
        return switch (command[0]) {
            case "open" -> open();
            case "push" -> start(() -> served().push(Long.parseLong(command[1])));
            case "pace" -> start(() -> served().pace(Integer.parseInt(command[1]), Long.parseLong(command[2])));
            case "await" -> String.valueOf(pushed.join());
            case "settled" -> String.valueOf(served().settled());
            case "usage" -> usage();
            case "close" -> close();
            default -> throw new IOException("unknown command: command=" + command[0]);
        };
    }

    private ServedVariant served() throws IOException {
        ServedVariant current = served;
        if (current == null) {
            throw new IOException("nothing is open: variant=" + variant);
        }
        return current;
    }

    private String open() throws IOException, InterruptedException {
        Path folder = folder(++opened);
        ServedVariant started = switch (variant) {
            case "relay" -> RelayVariant.atProcess(load, folder);
            case "relay-pipes" -> RelayVariant.atProcessWithManyPipes(load, folder);
            case "relay-disk" -> RelayVariant.atDisk(load, folder);
            case "forced" -> new ForcedVariant(load, folder);
            case "plain" -> new PlainVariant(load);
            case "gathered" -> new GatheredVariant(load);
            case "chronicle" -> new ChronicleVariant(load, folder);
            case "blast" -> new BlastVariant(load);
            default -> throw new IOException("unknown variant: variant=" + variant);
        };
        served = started;
        return started.wsPort() + " " + started.httpPort();
    }

    private interface Push {
        void run() throws IOException, InterruptedException;
    }

    private String start(Push push) {
        CompletableFuture<Long> ended = new CompletableFuture<>();
        long startNanos = System.nanoTime();
        Thread thread = new Thread(
                () -> {
                    try {
                        push.run();
                        ended.complete(System.nanoTime() - startNanos);
                    } catch (IOException | InterruptedException | RuntimeException e) {
                        ended.completeExceptionally(e);
                    }
                },
                "bench-publisher");
        thread.setDaemon(true);
        thread.start();
        pushed = ended;
        return "started";
    }

    private String close() throws IOException, InterruptedException {
        served().stop();
        served = null;
        Path folder = folder(opened);
        if (Files.exists(folder)) {
            try (Stream<Path> paths = Files.walk(folder)) {
                for (Path path : paths.sorted((a, b) -> b.compareTo(a)).toList()) {
                    Files.delete(path);
                }
            }
        }
        return "closed";
    }

    private Path folder(int number) {
        return data.resolve(variant + "-" + number);
    }

    /** CPU time of the process, bytes allocated by the threads that live, resident memory and the part of it not backed by files. */
    private static String usage() throws IOException {
        OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        ThreadMXBean threads = ManagementFactory.getPlatformMXBean(ThreadMXBean.class);
        long allocatedBytes = 0;
        for (long bytes : threads.getThreadAllocatedBytes(threads.getAllThreadIds())) {
            allocatedBytes += Math.max(0, bytes);
        }
        return system.getProcessCpuTime() + " " + allocatedBytes + " " + kib("VmRSS:") + " " + kib("RssAnon:");
    }

    private static long kib(String key) throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
            return lines.filter(line -> line.startsWith(key))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                    .findFirst()
                    .orElse(0);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }
}
