package io.tabletrelay.harness;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.core.client.RelayHttp;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * A relay that runs for a day delivers in its last hour as fast as in its first. {@code -Dsoak.minutes} makes it shorter; the
 * machine must have nothing else to do.
 */
@DisabledIfSystemProperty(named = "soak.minutes", matches = "0", disabledReason = "runs with -Psoak")
class SoakIT {
    private static final Duration READY = Duration.ofSeconds(60);
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int EVENTS_A_SECOND = 200;
    private static final int PARTS = 24;
    private static final String PIPE = "soak";

    private final int minutes = Integer.getInteger("soak.minutes", 24 * 60);

    @TempDir
    private Path data;

    @Test
    void theLastHourIsAsFastAsTheFirst() throws Exception {
        int events = minutes * 60 * EVENTS_A_SECOND;
        long[] waitedNanos = new long[events];
        ScheduledExecutorService publisher = Executors.newSingleThreadScheduledExecutor();
        try (RelayProcess relay = RelayProcess.serve(data);
                RawClient consumer = bind(relay)) {
            RelayHttp http = new RelayHttp(relay.http());
            ScheduledFuture<?> publishing = publisher.scheduleAtFixedRate(
                    () -> publish(http), 0, 1_000_000_000L / EVENTS_A_SECOND, TimeUnit.NANOSECONDS);
            for (int event = 0; event < events; event++) {
                RawClient.Frame frame = consumer.next(PATIENCE);
                waitedNanos[event] = System.nanoTime() - frame.event().getLong();
                assertThat(frame.eventId()).isEqualTo(event + 1);
                consumer.sendText("ACK:" + frame.eventId());
            }
            assertThat(publishing.cancel(false))
                    .as("every publish was confirmed")
                    .isTrue();
        } finally {
            publisher.shutdownNow();
        }
        long first = p99Nanos(waitedNanos, 0);
        long last = p99Nanos(waitedNanos, PARTS - 1);
        System.out.printf(
                "soak: minutes=%d, events=%d, published to delivered p99: first part %d us, last part %d us%n",
                minutes, events, first / 1_000, last / 1_000);
        assertThat(last).isLessThanOrEqualTo(Math.round(first * 1.2));
    }

    private static RawClient bind(RelayProcess relay) throws Exception {
        relay.awaitReady(READY);
        RawClient consumer = RawClient.connect(relay.wsPort());
        consumer.sendText("BIND:" + PIPE);
        assertThat(consumer.next(READY).text()).isEqualTo("READY");
        return consumer;
    }

    private static void publish(RelayHttp http) {
        try {
            ByteBuffer now =
                    ByteBuffer.allocate(Long.BYTES).putLong(System.nanoTime()).flip();
            http.publish(PIPE, "bytes", Map.of(), now, null);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static long p99Nanos(long[] waitedNanos, int part) {
        int size = waitedNanos.length / PARTS;
        long[] sorted = Arrays.copyOfRange(waitedNanos, part * size, (part + 1) * size);
        Arrays.sort(sorted);
        return sorted[size * 99 / 100];
    }
}
