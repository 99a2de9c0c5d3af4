package io.tabletrelay.harness.edge;

import static io.tabletrelay.harness.edge.EdgeProcess.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.UnixOperatingSystemMXBean;
import io.tabletrelay.harness.RawClient;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** What ten thousand connections with nothing to say cost the one that has. */
@DisabledIfSystemProperty(named = "edge.full", matches = "false", disabledReason = "runs with -Pedge")
class IdleConnectionsIT {
    private static final int FEW = 100;
    /** The relay takes connections for half of its open files. */
    private static final int MANY = (int) Math.min(10_000, mostOpenFiles() / 2 - 10);

    private static final int ECHOES = 3_000;

    @TempDir
    private Path data;

    @Test
    void theEchoOfOneConnectionIsUnaffectedByTenThousandIdleOnes() throws Exception {
        List<RawClient> idle = new ArrayList<>();
        try (EdgeProcess relay = EdgeProcess.start(
                        "-Xmx256m",
                        data,
                        "window=1",
                        "connections=" + (MANY + FEW),
                        "heartbeat-timeout=" + Duration.ofMinutes(10).toMillis(),
                        "fill=echo:" + 4 * ECHOES + ":64");
                RawClient client = relay.bind("echo")) {
            connect(relay, idle, FEW);
            echoes(client); // warm
            long[] withFew = echoes(client);
            long heapBefore = relay.metric("jvm_memory_heap_used_bytes");
            long startNanos = System.nanoTime();
            connect(relay, idle, MANY);
            long connectedNanos = System.nanoTime() - startNanos;
            long[] withMany = echoes(client);
            long heapAfter = relay.metric("jvm_memory_heap_used_bytes");

            double ratio50 = (double) percentile(withMany, 50) / percentile(withFew, 50);
            double ratio99 = (double) percentile(withMany, 99) / percentile(withFew, 99);
            System.out.printf(
                    "idle: %d connections in %d ms, heap %d -> %d KiB; echo p50/p99 %d/%d us with %d idle,"
                            + " %d/%d us with %d idle, ratio %.2f/%.2f%n",
                    idle.size(),
                    Duration.ofNanos(connectedNanos).toMillis(),
                    heapBefore >> 10,
                    heapAfter >> 10,
                    percentile(withFew, 50),
                    percentile(withFew, 99),
                    FEW,
                    percentile(withMany, 50),
                    percentile(withMany, 99),
                    idle.size(),
                    ratio50,
                    ratio99);
            assertThat(relay.metric("relay_edge_connections")).isEqualTo(idle.size() + 1L);
            assertThat(ratio50).isLessThan(5);
        } finally {
            for (RawClient client : idle) {
                client.reset();
            }
        }
    }

    private static long mostOpenFiles() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
                ? unix.getMaxFileDescriptorCount()
                : Long.MAX_VALUE;
    }

    private static void connect(EdgeProcess relay, List<RawClient> idle, int wanted) throws IOException {
        while (idle.size() < wanted) {
            RawClient client = RawClient.connect(relay.wsPort());
            idle.add(client);
        }
    }

    /** From an ack to the next event, in microseconds, sorted. */
    private static long[] echoes(RawClient client) throws IOException {
        long[] micros = new long[ECHOES];
        long id = client.next(PATIENCE).eventId();
        for (int i = 0; i < ECHOES; i++) {
            long startNanos = System.nanoTime();
            client.sendText("ACK:" + id);
            id = client.next(PATIENCE).eventId();
            micros[i] = (System.nanoTime() - startNanos) / 1_000;
        }
        client.sendText("ACK:" + id);
        Arrays.sort(micros);
        return micros;
    }

    private static long percentile(long[] sorted, int percent) {
        return sorted[(sorted.length - 1) * percent / 100];
    }
}
