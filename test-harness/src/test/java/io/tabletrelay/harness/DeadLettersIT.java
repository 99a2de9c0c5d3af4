package io.tabletrelay.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.tabletrelay.core.client.RelayHttp;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Kills the relay with SIGKILL while its dead letters are redriven one by one, and asks for all of them again after each start. */
class DeadLettersIT {
    private static final String PIPE = "p";
    private static final int LETTERS = 300;
    private static final int KILLS = 4;
    private static final Duration READY = Duration.ofSeconds(60);
    private static final Duration A_WHILE = Duration.ofMillis(300);

    private final long seed = System.nanoTime() & 0xffff_ffffL;
    private final Random random = new Random(seed);

    @TempDir
    private Path data;

    @Test
    void eachDeadLetterIsRedrivenOnceWheneverTheRelayIsKilled() throws Exception {
        try (RestartingRelay relay = RestartingRelay.serving(data)) {
            relay.awaitReady(READY);
            bury(relay);
            for (int kill = 1; kill <= KILLS; kill++) {
                CompletableFuture<Void> redriving = CompletableFuture.runAsync(() -> redriveEach(relay));
                relay.current().runFor(Duration.ofMillis(random.nextInt(600)));
                relay.kill();
                redriving.join();
                relay.start();
                relay.awaitReady(READY);
            }
            redriveEach(relay);

            JsonNode status = new RelayHttp(relay.http()).pipe(PIPE);
            assertThat(status.path("deadLetters").asInt(-1)).as("seed=%d", seed).isZero();
            assertThat(status.path("lastId").asLong() - status.path("voidIds").asLong())
                    .as("seed=%d", seed)
                    .isEqualTo(2L * LETTERS);
            try (Dialect2Client other = Dialect2Client.bound(relay.wsPort(), PIPE + "?subscription=other&window=1000");
                    Dialect2Client a = Dialect2Client.bound(relay.wsPort(), PIPE + "?subscription=a&window=1000")) {
                assertThat(numbers(a)).as("seed=%d", seed).containsExactlyInAnyOrderElementsOf(all());
                assertThat(a.within(A_WHILE)).isNull();
                assertThat(numbers(other)).containsExactlyElementsOf(all());
                assertThat(other.within(A_WHILE)).isNull();
            }
        }
    }

    private static List<Integer> all() {
        return IntStream.rangeClosed(1, LETTERS).boxed().toList();
    }

    private static List<Integer> numbers(Dialect2Client client) throws IOException {
        Integer[] numbers = new Integer[LETTERS];
        for (int i = 0; i < LETTERS; i++) {
            String text = StandardCharsets.UTF_8.decode(client.next().payload()).toString();
            numbers[i] = Integer.valueOf(text.replaceAll("\\D", ""));
        }
        return List.of(numbers);
    }

    /** Subscription a gives up every event, and other takes none yet. */
    private static void bury(RestartingRelay relay) throws Exception {
        RelayHttp http = new RelayHttp(relay.http());
        http.createPipe(PIPE, Map.of());
        http.createSubscription(PIPE, "other", "earliest");
        try (Dialect2Client a = Dialect2Client.bound(relay.wsPort(), PIPE + "?subscription=a&window=1000")) {
            for (int number : all()) {
                byte[] event = ("{\"n\":" + number + "}").getBytes(StandardCharsets.UTF_8);
                http.publish(PIPE, "json", Map.of(), ByteBuffer.wrap(event), null);
                a.line("TERM:" + a.next().id() + ":not for me");
            }
            await("all are given up")
                    .atMost(READY)
                    .until(() -> http.pipe(PIPE).path("deadLetters").asInt() == LETTERS);
        }
    }

    /** One request for each, until the relay is gone. */
    private static void redriveEach(RestartingRelay relay) {
        RelayHttp http = new RelayHttp(relay.http());
        try {
            for (int number : all()) {
                http.redrive(PIPE, Map.of("numbers", String.valueOf(number)));
            }
        } catch (IOException killed) {
            // asked for again after the start
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
