package io.tabletrelay.harness.store;

import io.tabletrelay.core.client.RelayHttp;
import io.tabletrelay.harness.RelayProcess;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A relay that believes it runs on a machine started anew: it sees another boot id, by a mount that nobody else sees. All
 * that it prints is kept in a file.
 *
 * <p>Threading: used by the test's thread; the file is written by the one that reads the process's output.
 */
final class PoweredRelay implements AutoCloseable {
    private static final Duration READY = Duration.ofSeconds(60);
    private static final String OTHER_BOOT = "mount --bind \"$0\" /proc/sys/kernel/random/boot_id && exec \"$@\"";

    private final BufferedWriter log;
    private final RelayProcess process;
    private final AtomicBoolean hasPower;
    private final RelayHttp http;

    private PoweredRelay(BufferedWriter log, RelayProcess process, AtomicBoolean hasPower, RelayHttp http) {
        this.log = log;
        this.process = process;
        this.hasPower = hasPower;
        this.http = http;
    }

    /** Starts it and waits until it is ready. */
    static PoweredRelay start(Path data, int windowEvents, Path logFile, ReportedLosses reported) throws Exception {
        Path bootId = logFile.resolveSibling("boot-id");
        Files.writeString(bootId, UUID.randomUUID() + "\n");
        BufferedWriter log = Files.newBufferedWriter(logFile);
        AtomicBoolean hasPower = new AtomicBoolean(true);
        RelayProcess process = RelayProcess.start(
                List.of("unshare", "-m", "sh", "-c", OTHER_BOOT, bootId.toString()),
                List.of(),
                SmallSegments.class.getName(),
                List.of(data.toString(), String.valueOf(windowEvents)),
                line -> {
                    keep(log, line);
                    if (hasPower.get()) {
                        reported.line(line);
                    }
                });
        try {
            process.awaitReady(READY);
            return new PoweredRelay(log, process, hasPower, new RelayHttp(process.http()));
        } catch (IllegalStateException e) {
            process.kill();
            log.close();
            throw e;
        }
    }

    private static void keep(BufferedWriter log, String line) {
        try {
            log.write(line);
            log.newLine();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    RelayProcess process() {
        return process;
    }

    /** What it says from now on of what it cannot read says nothing of what will be there. */
    void powerIsGoing() {
        hasPower.set(false);
    }

    RelayHttp http() {
        return http;
    }

    /** SIGKILL; what it printed is in its file then. */
    @Override
    public void close() throws IOException {
        try {
            process.kill();
            log.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("relay may still run: pid=" + process.pid());
        }
    }
}
