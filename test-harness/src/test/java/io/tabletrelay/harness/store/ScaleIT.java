package io.tabletrelay.harness.store;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.tabletrelay.harness.RawClient;
import io.tabletrelay.harness.RelayProcess;
import io.tabletrelay.harness.bench.client.ManyPipes;
import io.tabletrelay.harness.bench.client.ProcessFigures;
import io.tabletrelay.harness.bench.client.RawConsumer;
import io.tabletrelay.harness.bench.client.StoredPipe;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Very many pipes, few of which may be open; the figures are printed, what is promised is asserted. */
@DisabledIfSystemProperty(named = "scale.pipes", matches = "0", disabledReason = "runs with -Pscale")
@EnabledOnOs(OS.LINUX)
class ScaleIT {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final int MOST_OPEN = 200;
    /** The most that the handles of one open pipe, and of a relay without pipes, may be. */
    private static final int HANDLES_A_PIPE = 6;

    private static final int OTHER_HANDLES = 300;
    private static final int BOUND = 50;
    private static final Duration PING_PAUSE = Duration.ofMillis(100);

    private final int count = Integer.getInteger("scale.pipes", 1_000);
    private final HttpClient http = HttpClient.newHttpClient();

    @TempDir
    private Path data;

    @Test
    void manyPipesNeedTheHandlesOfFewAndLoseNothing() throws Exception {
        try (RelayProcess relay = serve()) {
            relay.awaitReady(PATIENCE);
            try (ManyPipes pipes = new ManyPipes(relay.http())) {
                System.out.printf("scale: first events of %d pipes: %s%n", count, pipes.publish(count));
                assertThatHandlesAreFew(relay, "first events");
                ManyPipes.Times second = pipes.publish(count);
                System.out.printf("scale: second events, most of closed pipes: %s%n", second);
                assertThat(second.medianMillis()).isLessThan(1_000);
                assertThatHandlesAreFew(relay, "second events");
                assertThat(pipes.lastIds(count)).containsExactly(2, 2);
            }
            relay.kill();
        }
        try (RelayProcess relay = serve()) {
            System.out.printf("scale: ready again after %s%n", relay.awaitReady(PATIENCE));
            assertThatTheListOpensNothing(relay);
            assertThatBoundConsumersAreServedWhilePipesComeAndGo(relay);
            try (ManyPipes pipes = new ManyPipes(relay.http())) {
                System.out.printf("scale: third events, of cold pipes: %s%n", pipes.publish(count));
                assertThatHandlesAreFew(relay, "third events");
                assertThat(pipes.lastIds(count)[0]).isGreaterThanOrEqualTo(3);
            }
        }
    }

    /** Each id but the first is settled: nothing can be forgotten, and the ring becomes larger and larger. */
    @Test
    void othersAreServedWhileTheRingOfAPipeWithMillionsOfPendingIdsGrows() throws Exception {
        long events = count * 1_000L;
        new StoredPipe(data, "deep").write(events, events * 2 / 5, id -> id > 1);
        Path ring = data.resolve("pipes/deep/subscriptions/default.settled");
        long bytesBefore = Files.size(ring);
        long startNanos = System.nanoTime();

        List<Long> pingNanos;
        try (RelayProcess relay = RelayProcess.serve(data, "--pipe-window=1000")) {
            relay.awaitReady(PATIENCE);
            try (RawConsumer consumer = RawConsumer.bindKeeping(relay.wsPort(), "deep", 1)) {
                long firstNanos = consumer.receiveAny(1, PATIENCE);
                System.out.printf("scale: first of %d events after %d ms%n", events, millis(firstNanos - startNanos));
                CompletableFuture<Long> drained = drain(consumer, events * 3 / 5);
                pingNanos = pingUntil(drained, relay.wsPort());
                drained.join();
                System.out.printf("scale: delivered after %d ms%n", millis(System.nanoTime() - firstNanos));
            }
        }

        assertThat(Files.size(ring)).isGreaterThan(bytesBefore);
        pingNanos.sort(null);
        long p99Nanos = pingNanos.get(pingNanos.size() * 99 / 100);
        System.out.printf("scale: %d pings, p99 %d ms%n", pingNanos.size(), millis(p99Nanos));
        assertThat(Duration.ofNanos(p99Nanos)).isLessThan(Duration.ofSeconds(1));
    }

    private static long millis(long nanos) {
        return nanos / 1_000_000;
    }

    private static CompletableFuture<Long> drain(RawConsumer consumer, long events) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return consumer.receiveAny(events, PATIENCE);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    /** How long each answer took; fewer are sent than a relay takes for a flood. */
    private static List<Long> pingUntil(CompletableFuture<?> done, int port) throws Exception {
        List<Long> nanos = new ArrayList<>();
        try (RawClient client = RawClient.connect(port)) {
            client.sendText("BIND:other");
            assertThat(client.next(PATIENCE).text()).isEqualTo("READY");
            do {
                long sentNanos = System.nanoTime();
                client.sendFrame(RawClient.PING, true, true, new byte[] {1});
                assertThat(client.next(PATIENCE).opcode()).isEqualTo(RawClient.PONG);
                nanos.add(System.nanoTime() - sentNanos);
            } while (!endsWithin(PING_PAUSE, done));
        }
        return nanos;
    }

    private static boolean endsWithin(Duration pause, CompletableFuture<?> done) throws Exception {
        try {
            done.get(pause.toMillis(), TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        }
    }

    private RelayProcess serve() throws IOException {
        return RelayProcess.serve(data, "--max-open-pipes=" + MOST_OPEN);
    }

    private static void assertThatHandlesAreFew(RelayProcess relay, String when) throws IOException {
        ProcessFigures figures = ProcessFigures.of(relay.pid());
        System.out.printf("scale: after %s: %s%n", when, figures);
        assertThat(figures.handles()).isLessThan(MOST_OPEN * HANDLES_A_PIPE + OTHER_HANDLES);
        assertThat(figures.mappings()).isLessThan(MOST_OPEN * 8L + 3_000);
    }

    private void assertThatTheListOpensNothing(RelayProcess relay) throws Exception {
        ProcessFigures before = ProcessFigures.of(relay.pid());
        int listed = 0;
        String after = "";
        while (true) {
            JsonNode page = get(relay.http().resolve("/v1/pipes?limit=1000&after=" + after));
            listed += page.path("pipes").size();
            assertThat(page.path("pipes").findValuesAsText("open")).containsOnly("false");
            if (!page.has("next")) {
                break;
            }
            after = page.get("next").asText();
        }
        assertThat(listed).isEqualTo(count);
        assertThat(ProcessFigures.of(relay.pid()).handles()).isLessThan(before.handles() + 20);
    }

    /** Their pipes are closed and opened again beneath them. */
    private void assertThatBoundConsumersAreServedWhilePipesComeAndGo(RelayProcess relay) throws Exception {
        List<RawClient> consumers = new ArrayList<>();
        try (ManyPipes pipes = new ManyPipes(relay.http())) {
            for (int pipe = 0; pipe < BOUND; pipe++) {
                RawClient consumer = RawClient.connect(relay.wsPort());
                consumers.add(consumer);
                consumer.sendText("BIND:" + ManyPipes.name(pipe));
                assertThat(consumer.next(PATIENCE).text()).isEqualTo("READY");
                ackTwo(consumer);
            }
            pipes.publish(count);
            for (RawClient consumer : consumers) {
                assertThat(consumer.next(PATIENCE).text()).contains("pipe");
            }
        } finally {
            for (RawClient consumer : consumers) {
                consumer.close();
            }
        }
    }

    private static void ackTwo(RawClient consumer) throws Exception {
        for (int id = 1; id <= 2; id++) {
            consumer.next(PATIENCE);
            consumer.sendText("ACK:" + id);
        }
    }

    private JsonNode get(URI uri) throws Exception {
        return new JsonMapper()
                .readTree(http.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString())
                        .body());
    }
}
