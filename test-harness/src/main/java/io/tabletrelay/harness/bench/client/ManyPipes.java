package io.tabletrelay.harness.bench.client;

import io.tabletrelay.core.client.RelayHttp;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Uses many pipes of a relay over HTTP, some at a time.
 *
 * <p>Threading: used by one thread; it lends its work to others and waits for them.
 */
public final class ManyPipes implements AutoCloseable {
    private static final int AT_ONCE = 32;

    private final ExecutorService clients = Executors.newFixedThreadPool(AT_ONCE);
    private final RelayHttp http;

    /**
     * How long requests took, one after the other and all of them.
     *
     * <p>Threading: immutable.
     */
    public record Times(double allSeconds, double medianMillis, double p99Millis) {}

    /** What is done with a pipe. */
    private interface Use {
        void apply(int pipe) throws IOException, InterruptedException;
    }

    public ManyPipes(URI relay) {
        http = new RelayHttp(relay);
    }

    public static String name(int pipe) {
        return "scale-" + pipe;
    }

    /** Makes pipes without an event. */
    public Times create(int count) throws IOException, InterruptedException {
        return each(count, pipe -> http.createPipe(name(pipe), Map.of()));
    }

    /** Publishes one event to each pipe; makes those that are not there. */
    public Times publish(int count) throws IOException, InterruptedException {
        return each(
                count,
                pipe -> http.publish(
                        name(pipe),
                        "json",
                        Map.of(),
                        ByteBuffer.wrap(("{\"pipe\":" + pipe + "}").getBytes(StandardCharsets.UTF_8)),
                        null));
    }

    /** Asks each pipe for its last id, and returns the least and the greatest. */
    public long[] lastIds(int count) throws IOException, InterruptedException {
        long[] ids = new long[count];
        each(count, pipe -> ids[pipe] = http.pipe(name(pipe)).path("lastId").asLong());
        return new long[] {
            Arrays.stream(ids).min().orElse(0), Arrays.stream(ids).max().orElse(0)
        };
    }

    private Times each(int count, Use use) throws IOException, InterruptedException {
        long[] nanos = new long[count];
        AtomicInteger next = new AtomicInteger();
        List<Future<?>> running = new ArrayList<>();
        long startNanos = System.nanoTime();
        for (int client = 0; client < AT_ONCE; client++) {
            running.add(clients.submit(() -> {
                for (int pipe = next.getAndIncrement(); pipe < count; pipe = next.getAndIncrement()) {
                    long beganNanos = System.nanoTime();
                    use.apply(pipe);
                    nanos[pipe] = System.nanoTime() - beganNanos;
                }
                return null;
            }));
        }
        for (Future<?> client : running) {
            try {
                client.get();
            } catch (ExecutionException e) {
                throw new IOException("a pipe could not be used: reason=" + e.getCause(), e);
            }
        }
        double allSeconds = (System.nanoTime() - startNanos) / 1e9;
        Arrays.sort(nanos);
        return new Times(allSeconds, nanos[count / 2] / 1e6, nanos[(int) (count * 0.99)] / 1e6);
    }

    @Override
    public void close() {
        clients.shutdownNow();
    }
}
