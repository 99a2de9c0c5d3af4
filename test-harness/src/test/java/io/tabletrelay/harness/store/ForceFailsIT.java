package io.tabletrelay.harness.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.core.client.RefusedException;
import io.tabletrelay.core.client.RelayHttp;
import io.tabletrelay.harness.RelayProcess;
import io.tabletrelay.harness.RestartingRelay;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A relay at durability disk whose forces all fail for a while: strace makes fsync, fdatasync and msync of the running process
 * answer EIO. The disk may be well again afterwards, or the relay is killed in the middle of it.
 *
 * <p>System property: {@code diskfaults.rounds}.
 */
class ForceFailsIT {
    private static final String PIPE = "forced";
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int UNNUMBERED_PRODUCERS = 3;

    private final int rounds = Integer.getInteger("diskfaults.rounds", 1);
    private final Map<String, Long> confirmed = new ConcurrentHashMap<>();
    private final Map<String, String> refused = new ConcurrentHashMap<>();
    private final Set<String> codes = ConcurrentHashMap.newKeySet();
    private final List<Thread> producers = new ArrayList<>();
    private volatile boolean finished;

    @TempDir
    private Path folder;

    @AfterEach
    void endProducers() {
        finished = true;
        producers.forEach(Thread::interrupt);
    }

    @Test
    void nothingThatWasRefusedIsThereAndNothingThatWasConfirmedIsLost() throws Exception {
        assumeTrue(canInject(), "needs strace, and the right to use it: apt-get install strace");
        try (RestartingRelay relay =
                        new RestartingRelay(run -> RelayProcess.serve(folder.resolve("data"), "--durability=disk"));
                CollectingConsumer consumer = new CollectingConsumer(PIPE, relay::wsPort)) {
            relay.awaitReady(PATIENCE);
            for (int i = 1; i <= UNNUMBERED_PRODUCERS; i++) {
                start("unnumbered-" + i, relay, false);
            }
            start("numbered", relay, true);
            for (int round = 0; round < rounds; round++) {
                faultThatPasses(relay);
                faultThatIsKilledIn(relay);
            }
            finished = true;
            for (Thread producer : producers) {
                producer.join(PATIENCE.toMillis());
            }
            check(relay, consumer);
        }
    }

    private void faultThatPasses(RestartingRelay relay) throws Exception {
        awaitConfirmedMore(200);
        Process fault = inject(relay.current().pid());
        try {
            awaitRefusedMore(20);
            JsonNode status = new RelayHttp(relay.http()).pipe(PIPE);
            assertThat(status.path("state").asText()).isEqualTo("OPEN");
            assertThat(status.path("reason").asText()).contains("not stored");
        } finally {
            end(fault);
        }
        awaitConfirmedMore(200);
        await("trouble is over")
                .atMost(PATIENCE)
                .until(() -> new RelayHttp(relay.http())
                        .pipe(PIPE)
                        .path("reason")
                        .asText()
                        .isEmpty());
    }

    private void faultThatIsKilledIn(RestartingRelay relay) throws Exception {
        Process fault = inject(relay.current().pid());
        try {
            awaitRefusedMore(20);
            relay.kill();
        } finally {
            end(fault);
        }
        relay.start();
        relay.awaitReady(PATIENCE);
        awaitConfirmedMore(200);
    }

    private void check(RestartingRelay relay, CollectingConsumer consumer) throws Exception {
        RelayHttp http = new RelayHttp(relay.http());
        JsonNode status = await("pipe is drained")
                .atMost(PATIENCE)
                .until(
                        () -> http.pipe(PIPE),
                        now -> now.path("floor").asLong() == now.path("lastId").asLong()
                                && now.path("durableFloor").asLong()
                                        == now.path("floor").asLong());
        assertThat(consumer.faults()).isEmpty();
        assertThat(codes).containsExactly(ErrorCode.PIPE_FAILED.name());
        assertThat(confirmed.values()).doesNotHaveDuplicates();
        confirmed.forEach((body, id) -> assertThat(consumer.payload(id))
                .as("event %d was confirmed", id)
                .isEqualTo(body));
        assertThat(refused.keySet()).isNotEmpty().doesNotContainAnyElementsOf(consumer.payloads());
        assertThat(status.path("voidIds").asLong()).isPositive();
        assertThat(status.path("deadLetters").asLong()).isZero();
        System.out.printf(
                "force fails: rounds=%d, confirmed=%d, refused=%d, void=%d%n",
                rounds, confirmed.size(), refused.size(), status.path("voidIds").asLong());
    }

    private void start(String name, RestartingRelay relay, boolean numbered) {
        Thread thread = new Thread(() -> produce(name, relay, numbered), name);
        thread.setDaemon(true);
        thread.start();
        producers.add(thread);
    }

    /** A numbered one repeats each body until it is confirmed; another one makes a new body of each publish. */
    private void produce(String name, RestartingRelay relay, boolean numbered) {
        try {
            for (long number = 1; !finished; number++) {
                String body = name + "-" + number;
                boolean stored = publish(relay, body, numbered ? new ProducerSequence(name, number) : null);
                while (numbered && !stored && !finished) {
                    stored = publish(relay, body, new ProducerSequence(name, number));
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean publish(RestartingRelay relay, String body, @Nullable ProducerSequence sequence)
            throws InterruptedException {
        try {
            RelayHttp.Stored stored = new RelayHttp(relay.http())
                    .publish(PIPE, "bytes", Map.of(), ByteBuffer.wrap(body.getBytes(StandardCharsets.UTF_8)), sequence);
            confirmed.put(body, stored.firstId());
            return true;
        } catch (RefusedException e) {
            codes.add(e.code().name());
            if (sequence == null) {
                refused.put(body, e.reason());
            }
        } catch (IOException e) {
            // killed: what became of it is not known
        }
        TimeUnit.MILLISECONDS.sleep(20);
        return false;
    }

    private void awaitConfirmedMore(int events) {
        int before = confirmed.size();
        await("publishes are confirmed").atMost(PATIENCE).until(() -> confirmed.size() >= before + events);
    }

    private void awaitRefusedMore(int events) {
        int before = refused.size();
        await("publishes are refused").atMost(PATIENCE).until(() -> refused.size() >= before + events);
    }

    private Process inject(long pid) throws IOException {
        return new ProcessBuilder(
                        "strace",
                        "-f",
                        "-qq",
                        "-o",
                        "/dev/null",
                        "-e",
                        "trace=fsync,fdatasync,msync",
                        "-e",
                        "inject=fsync,fdatasync,msync:error=EIO",
                        "-p",
                        String.valueOf(pid))
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("strace.out").toFile())
                .start();
    }

    /** Lets go of the process that it watches. */
    private static void end(Process strace) throws InterruptedException {
        strace.destroy();
        strace.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    private boolean canInject() throws IOException, InterruptedException {
        Path answer = folder.resolve("probe.out");
        try {
            Process probe = new ProcessBuilder("strace", "-qq", "-e", "inject=fsync:error=EIO", "true")
                    .redirectErrorStream(true)
                    .redirectOutput(answer.toFile())
                    .start();
            return probe.waitFor() == 0 && Files.exists(answer);
        } catch (IOException notInstalled) {
            return false;
        }
    }
}
