package io.tabletrelay.harness.faults;

import static io.tabletrelay.harness.faults.TestRelay.PATIENCE;
import static io.tabletrelay.harness.faults.TestRelay.window;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.tabletrelay.core.client.RelayHttp;
import io.tabletrelay.harness.RelayProcess;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands of the README in processes of their own, killed and frozen at bad moments. */
class CommandFaultsTest {
    private static final String PIPE = "plant";
    private static final Duration LONG = Duration.ofSeconds(60);

    @TempDir
    private Path folder;

    @Test
    void anImportThatWasKilledAndWhoseRelayWasKilledStoresEachRowOnceInOrder() throws Exception {
        int rows = 5_000;
        int requests = 1_000;
        Path csv = csv(rows);
        try (RelayProcess first = RelayProcess.serve(folder.resolve("data"))) {
            first.awaitReady(LONG);
            String httpPort = "--http-port=" + first.http().getPort();
            try (RelayProcess killed = importing(first.http(), csv)) {
                awaitStored(first.http(), 50);
                killed.kill();
            }
            long storedByTheKilledImport = stored(first.http());
            try (RelayProcess again = importing(first.http(), csv)) {
                awaitStored(first.http(), storedByTheKilledImport + 50);
                first.kill();
                try (RelayProcess second = RelayProcess.serve(folder.resolve("data"), httpPort)) {
                    second.awaitReady(LONG);
                    assertThat(again.exitCode(LONG))
                            .as(again.output().toString())
                            .isZero();
                    assertThat(storedByTheKilledImport).isBetween(50L, requests - 1L);
                    assertThat(again.output()).anyMatch(line -> line.contains("trying again"));

                    assertThat(importAgain(second.http(), csv))
                            .contains("rows=0,")
                            .contains("stored before=" + rows);
                    assertThat(stored(second.http())).isEqualTo(requests);
                    assertThat(numbers(consume(second.http(), second.wsPort(), requests)))
                            .isEqualTo(IntStream.range(0, rows).boxed().toList());
                }
            }
        }
    }

    @Test
    void publishAndConsumeEndByThemselves() throws Exception {
        Path json = Files.writeString(folder.resolve("events.json"), "{\"n\":0.0}\n{\"n\":1.0}\n{\"n\":2.0}\n");
        try (TestRelay relay = TestRelay.start(folder.resolve("data"), window(10))) {
            try (RelayProcess publish = command(
                    new ArrayList<>(),
                    "publish",
                    "--server=" + relay.httpAddress(),
                    "--pipe=" + PIPE,
                    "--type=json",
                    json.toString())) {
                assertThat(publish.exitCode(LONG)).isZero();
                assertThat(publish.output()).containsExactly("published: pipe=plant, events=3, ids=1-3");
            }

            assertThat(numbers(consume(relay.httpAddress(), relay.wsPort(), 3))).containsExactly(0, 1, 2);

            relay.awaitSettled(PIPE, 3);
        }
    }

    @Test
    void aConsumerThatWasFrozenForLongerThanARelayWaitsGoesOnWhereItWas() throws Exception {
        Duration heartbeat = Duration.ofMillis(400);
        List<String> printed = new CopyOnWriteArrayList<>();
        try (TestRelay relay = TestRelay.start(folder.resolve("data"), window(10), heartbeat, Duration.ofSeconds(1));
                RelayProcess consumer = command(
                        printed,
                        "consume",
                        "--server=" + relay.httpAddress(),
                        "--ws-port=" + relay.wsPort(),
                        "--pipe=" + PIPE)) {
            publishNumbers(relay, 1, 20);
            relay.awaitSettled(PIPE, 20);
            consumer.pause();
            publishNumbers(relay, 21, 60);
            relay.awaitUnbound(PIPE);
            assertThat(relay.status(PIPE).path("floor").asInt()).isEqualTo(20);

            consumer.resume();

            relay.awaitSettled(PIPE, 60);
            await("all are printed")
                    .atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(printed)
                            .filteredOn(line -> !line.startsWith("relay: "))
                            .containsExactlyElementsOf(IntStream.rangeClosed(1, 60)
                                    .mapToObj(String::valueOf)
                                    .toList()));
        }
    }

    private static void publishNumbers(TestRelay relay, int first, int last) throws Exception {
        String numbers =
                IntStream.rangeClosed(first, last).mapToObj(String::valueOf).collect(Collectors.joining("\n"));
        relay.http().publish(PIPE, "json", Map.of(), ByteBuffer.wrap(numbers.getBytes(UTF_8)), null);
    }

    private Path csv(int rows) throws IOException {
        String body = IntStream.range(0, rows)
                .mapToObj(row -> row * 1000L + "," + row)
                .collect(Collectors.joining("\n", "time,n\n", "\n"));
        return Files.writeString(folder.resolve("machine.csv"), body);
    }

    private static RelayProcess importing(URI server, Path csv) throws IOException {
        return command(
                new ArrayList<>(),
                "import",
                "--server=" + server,
                "--pipe=" + PIPE,
                "--type=csv",
                "--rows=5",
                csv.toString());
    }

    private static String importAgain(URI server, Path csv) throws Exception {
        try (RelayProcess again = importing(server, csv)) {
            assertThat(again.exitCode(LONG)).isZero();
            return String.join("\n", again.output());
        }
    }

    private static List<String> consume(URI server, int wsPort, int events) throws Exception {
        List<String> lines = new CopyOnWriteArrayList<>();
        try (RelayProcess consume = command(
                lines, "consume", "--server=" + server, "--ws-port=" + wsPort, "--pipe=" + PIPE, "--count=" + events)) {
            assertThat(consume.exitCode(LONG)).as(consume.output().toString()).isZero();
        }
        return lines;
    }

    /** The numbers of printed rows. */
    private static List<Integer> numbers(List<String> lines) {
        return lines.stream()
                .map(line -> (int) Double.parseDouble(line.substring(line.indexOf("\"n\":") + 4, line.indexOf('}'))))
                .toList();
    }

    private static void awaitStored(URI server, long events) {
        await("events=" + events)
                .atMost(LONG)
                .pollInterval(Duration.ofMillis(5))
                .ignoreExceptions() // the pipe is made by its first event
                .until(() -> stored(server) >= events);
    }

    private static long stored(URI server) throws Exception {
        return new RelayHttp(server).pipe(PIPE).path("lastId").asLong();
    }

    private static RelayProcess command(List<String> lines, String... arguments) throws IOException {
        return RelayProcess.start(RelayProcess.RELAY_MAIN, List.of(arguments), lines::add);
    }
}
