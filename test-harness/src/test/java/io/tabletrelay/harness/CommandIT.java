package io.tabletrelay.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.tabletrelay.core.client.RelayHttp;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands as processes of their own, against a relay that is one too. */
class CommandIT {
    private static final Duration LONG = Duration.ofMinutes(2);
    private static final int ROWS = 20_000;

    @TempDir
    private Path folder;

    private Path file;

    @BeforeEach
    void writeRows() throws IOException {
        List<String> lines = new ArrayList<>(List.of("time,value"));
        LongStream.rangeClosed(1, ROWS).forEach(row -> lines.add(row + ",v" + row));
        file = Files.write(folder.resolve("rows.csv"), lines);
    }

    @Test
    void anImportThroughKillsOfTheRelayAndOfItselfStoresEachRowOnce() throws Exception {
        try (RelayProcess first = RelayProcess.serve(folder.resolve("data"))) {
            first.awaitReady(LONG);
            String http = "--http-port=" + first.http().getPort();
            try (RelayProcess killed = importRows(first)) {
                await("a part is stored").atMost(LONG).ignoreExceptions().until(() -> lastId(first) > 20);
                killed.kill();
            }
            try (RelayProcess resumed = importRows(first)) {
                long before = lastId(first);
                await("more is stored").atMost(LONG).until(() -> lastId(first) > before);
                first.kill();
                try (RelayProcess second = RelayProcess.serve(folder.resolve("data"), http)) {
                    second.awaitReady(LONG);

                    assertThat(resumed.exitCode(LONG))
                            .as("%s", resumed.output())
                            .isZero();

                    assertThat(consumedRows(second, lastId(second)))
                            .containsExactlyElementsOf(LongStream.rangeClosed(1, ROWS)
                                    .mapToObj(CommandIT::printed)
                                    .toList());
                }
            }
        }
    }

    /** Ten rows per request: slow enough to be killed in the middle. */
    private RelayProcess importRows(RelayProcess relay) throws IOException {
        return RelayProcess.start(
                RelayProcess.RELAY_MAIN,
                List.of(
                        "import",
                        "--pipe=plant",
                        "--type=csv",
                        "--rows=10",
                        "--server=" + relay.http(),
                        file.toString()),
                line -> {});
    }

    private List<String> consumedRows(RelayProcess relay, long events) throws Exception {
        List<String> lines = new CopyOnWriteArrayList<>();
        List<String> arguments =
                List.of("consume", "--pipe=plant", "--count=" + events, "--ws=ws://127.0.0.1:" + relay.wsPort());
        try (RelayProcess consumer = RelayProcess.start(RelayProcess.RELAY_MAIN, arguments, lines::add)) {
            assertThat(consumer.exitCode(LONG)).isZero();
        }
        await("all is settled")
                .atMost(LONG)
                .until(() -> status(relay).path("floor").asLong() == events);
        return lines;
    }

    private static String printed(long row) {
        return "{\"device\":\"plant\",\"time\":\"" + Instant.ofEpochMilli(row) + "\",\"value\":\"v" + row + "\"}";
    }

    private static long lastId(RelayProcess relay) throws Exception {
        return status(relay).path("lastId").asLong();
    }

    private static JsonNode status(RelayProcess relay) throws Exception {
        return new RelayHttp(relay.http()).pipe("plant");
    }
}
