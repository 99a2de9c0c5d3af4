package io.tabletrelay.harness.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.tabletrelay.core.client.RelayHttp;
import io.tabletrelay.harness.RawClient;
import io.tabletrelay.harness.RelayProcess;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A log that ends before what was acked in it, as a power cut may leave it. */
class LostTailIT {
    private static final String PIPE = "orders";
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    private Path folder;

    @Test
    void whenTheLogEndsBelowTheAcksIdsGoOnAboveThemAndTheNextEventIsDeliveredAtOnce() throws Exception {
        Path data = folder.resolve("data");
        Path log = data.resolve("pipes").resolve(PIPE).resolve("events");
        runAndAck(data, 1, 5);
        Command.run("cp", "-a", log.toString(), folder.resolve("older").toString());
        runAndAck(data, 6, 10);
        Command.run("rm", "-r", log.toString());
        Command.run("mv", folder.resolve("older").toString(), log.toString());

        try (RelayProcess relay = RelayProcess.serve(data)) {
            relay.awaitReady(PATIENCE);
            try (RawClient consumer = bound(relay)) {
                long id = publish(relay, 11);
                long confirmedNanos = System.nanoTime();
                RawClient.Frame next = consumer.next(PATIENCE);
                Duration took = Duration.ofNanos(System.nanoTime() - confirmedNanos);

                assertThat(id).isGreaterThan(10);
                assertThat(next.eventId()).isEqualTo(id);
                assertThat(StandardCharsets.UTF_8.decode(next.event()).toString())
                        .isEqualTo("{\"n\":11}");
                assertThat(took).isLessThan(Duration.ofSeconds(1));
                consumer.sendText("ACK:" + id);
                awaitFloor(relay, id);
            }
            assertThat(String.join("\n", relay.output()))
                    .contains("log ends before what was appended to it: pipe=" + PIPE + ", ids=6 to 10 are lost");
        }
    }

    private static void runAndAck(Path data, int first, int last) throws Exception {
        try (RelayProcess relay = RelayProcess.serve(data)) {
            relay.awaitReady(PATIENCE);
            for (int n = first; n <= last; n++) {
                assertThat(publish(relay, n)).isEqualTo(n);
            }
            try (RawClient consumer = bound(relay)) {
                for (int n = first; n <= last; n++) {
                    consumer.sendText("ACK:" + consumer.next(PATIENCE).eventId());
                }
                awaitFloor(relay, last);
            }
            assertThat(relay.terminate(PATIENCE)).isZero();
        }
    }

    private static RawClient bound(RelayProcess relay) throws Exception {
        RawClient consumer = RawClient.connect(relay.wsPort());
        consumer.sendText("BIND:" + PIPE);
        assertThat(consumer.next(PATIENCE).text()).isEqualTo("READY");
        return consumer;
    }

    private static long publish(RelayProcess relay, int n) throws Exception {
        ByteBuffer body = ByteBuffer.wrap(("{\"n\":" + n + "}").getBytes(StandardCharsets.UTF_8));
        return new RelayHttp(relay.http())
                .publish(PIPE, "json", Map.of(), body, null)
                .firstId();
    }

    private static void awaitFloor(RelayProcess relay, long id) {
        RelayHttp http = new RelayHttp(relay.http());
        await().atMost(PATIENCE).until(() -> http.pipe(PIPE).path("floor").asLong() >= id);
    }
}
