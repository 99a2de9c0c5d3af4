package io.tabletrelay.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RelayProcessTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    @TempDir
    private Path data;

    @Test
    void aRelaySaysWhereItListensAndStopsInOrderOnSigterm() throws Exception {
        try (RelayProcess relay = RelayProcess.serve(data)) {
            relay.awaitReady(LONG);
            RawClient.tcp(relay.wsPort()).close();

            int exitCode = relay.terminate(LONG);

            assertThat(exitCode).isZero();
            assertThat(relay.output())
                    .anyMatch(line -> line.contains(data.toString()))
                    .contains("stopped");
        }
    }

    @Test
    void aTakenPortIsOneLineAndExitCodeThree() throws Exception {
        try (RelayProcess first = RelayProcess.serve(data.resolve("a"))) {
            first.awaitReady(LONG);

            try (RelayProcess second = RelayProcess.serve(data.resolve("b"), "--ws-port=" + first.wsPort())) {
                assertThat(second.exitCode(LONG)).isEqualTo(3);
                assertThat(second.output())
                        .singleElement()
                        .asString()
                        .startsWith("relay: ")
                        .contains("127.0.0.1:" + first.wsPort());
            }
        }
    }

    @Test
    void aKilledRelayIsGoneAtOnceAndAPausedOneOnlySeemsSo() throws Exception {
        try (RelayProcess relay = RelayProcess.serve(data)) {
            relay.awaitReady(LONG);
            relay.pause();
            assertThat(relay.isAlive()).isTrue();
            relay.resume();

            relay.kill();

            assertThat(relay.isAlive()).isFalse();
            assertThat(relay.exitCode(LONG)).isEqualTo(128 + 9);
        }
    }

    @Test
    void aProcessThatCannotStartIsReportedWithItsOutput() throws Exception {
        try (RelayProcess relay = RelayProcess.serve(data, "--nonsense")) {
            assertThatThrownBy(() -> relay.awaitReady(LONG)).hasMessageContaining("--nonsense");
        }
    }

    @Test
    void whatAProcessPrintedBeforeItWasKilledIsReadToItsEnd() throws Exception {
        List<String> lines = new CopyOnWriteArrayList<>();
        CountDownLatch killed = new CountDownLatch(1);
        Path printed = data.resolve("printed");
        try (RelayProcess chatter = RelayProcess.start(Chatter.class.getName(), List.of(printed.toString()), line -> {
            awaitQuietly(killed);
            lines.add(line);
        })) {
            await().atMost(LONG).until(() -> Files.exists(printed));

            CompletableFuture<Void> kill = CompletableFuture.runAsync(() -> killQuietly(chatter));
            await().atMost(LONG).until(() -> !chatter.isAlive());
            killed.countDown();
            kill.join();

            assertThat(lines).hasSize(Chatter.LINES).last().isEqualTo("line " + (Chatter.LINES - 1) + " .");
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void killQuietly(RelayProcess process) {
        try {
            process.kill();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Prints, says by a file that it has printed, and stays. */
    static final class Chatter {
        static final int LINES = 500;

        private Chatter() {}

        public static void main(String[] arguments) throws Exception {
            for (int line = 0; line < LINES; line++) {
                System.out.println("line " + line + " .");
            }
            Files.createFile(Path.of(arguments[0]));
            new CountDownLatch(1).await();
        }
    }
}
