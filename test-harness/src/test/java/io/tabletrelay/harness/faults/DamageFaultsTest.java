package io.tabletrelay.harness.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.tabletrelay.core.client.RelayHttp;
import io.tabletrelay.harness.RawClient;
import io.tabletrelay.harness.RelayProcess;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A relay as a process, on files that were damaged while it was down. */
class DamageFaultsTest {
    private static final Duration READY = Duration.ofSeconds(60);
    private static final Duration STOPS_WITHIN = Duration.ofSeconds(10);
    private static final int EVENTS = 2_000;

    @TempDir
    private Path data;

    @Test
    void aDamagedPageStopsNeitherTheRelayNorItsEnd() throws Exception { // BR-007, BR-022
        write("plant");
        Path segment = segment("plant");
        Random random = new Random(22);

        for (int round = 0; round < 2; round++) {
            byte[] garbage = new byte[4096];
            random.nextBytes(garbage);
            overwrite(segment, 20_480 + 4096L * random.nextInt(20), garbage);

            try (RelayProcess relay = ready();
                    BoundClient client = BoundClient.bind(relay.wsPort(), "plant")) {
                long last = 0;
                while (last < EVENTS) {
                    RawClient.Frame event = client.event();
                    last = event.eventId();
                    assertThat(number(event)).isEqualTo(last);
                }
                await("what was lost is named").atMost(TestRelay.PATIENCE).untilAsserted(() -> {
                    JsonNode status = status(relay, "plant");
                    assertThat(status.path("state").asText()).isEqualTo("OPEN");
                    assertThat(status.path("deadLetters").asInt()).isPositive();
                });
                assertThat(relay.terminate(STOPS_WITHIN)).isZero();
            }
        }
    }

    @Test
    void aPipeWhoseFileIsDamagedIsFailedAndTheOthersServe() throws Exception { // BR-025, BR-027
        write("plant");
        write("mill");
        Files.writeString(data.resolve("pipes/plant/pipe.json"), "{");

        try (RelayProcess relay = ready();
                BoundClient client = BoundClient.bind(relay.wsPort(), "mill")) {
            assertThat(client.event().eventId()).isEqualTo(1);
            await("the damaged pipe says why").atMost(TestRelay.PATIENCE).untilAsserted(() -> {
                JsonNode status = status(relay, "plant");
                assertThat(status.path("state").asText()).isEqualTo("FAILED");
                assertThat(status.path("reason").asText()).contains("pipe.json").contains("check-data --repair");
            });
            assertThat(relay.terminate(STOPS_WITHIN)).isZero();
        }
    }

    private void write(String pipe) throws Exception {
        try (RelayProcess relay = ready()) {
            String numbers = LongStream.rangeClosed(1, EVENTS)
                    .mapToObj(Long::toString)
                    .collect(Collectors.joining(",", "[", "]"));
            ByteBuffer body = ByteBuffer.wrap(numbers.getBytes(StandardCharsets.UTF_8));
            new RelayHttp(relay.http()).publish(pipe, "json", Map.of(), body, null);
            relay.terminate(STOPS_WITHIN);
        }
    }

    private RelayProcess ready() throws Exception {
        RelayProcess relay = RelayProcess.serve(data, "--pipe-window=" + EVENTS);
        relay.awaitReady(READY);
        return relay;
    }

    private Path segment(String pipe) throws IOException {
        try (Stream<Path> all = Files.walk(data.resolve("pipes").resolve(pipe).resolve("events"))) {
            List<Path> files =
                    all.filter(path -> path.toString().endsWith(".cq4")).toList();
            assertThat(files).hasSize(1);
            return files.get(0);
        }
    }

    private static void overwrite(Path file, long position, byte[] bytes) throws IOException {
        try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
            open.seek(position);
            open.write(bytes);
        }
    }

    private static long number(RawClient.Frame event) {
        return Long.parseLong(StandardCharsets.UTF_8.decode(event.event()).toString());
    }

    private static JsonNode status(RelayProcess relay, String pipe) throws IOException, InterruptedException {
        return new RelayHttp(relay.http()).pipe(pipe);
    }
}
