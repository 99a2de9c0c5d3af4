package io.tabletrelay.harness.edge;

import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.tabletrelay.core.client.RelayHttp;
import io.tabletrelay.harness.RawClient;
import io.tabletrelay.harness.RelayProcess;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * An {@link EdgeRelay} in a process of its own, and what is seen of it from outside.
 *
 * <p>Threading: thread-safe.
 */
final class EdgeProcess implements AutoCloseable {
    static final Duration PATIENCE = Duration.ofSeconds(60);
    /** The long proofs were asked for. */
    static final boolean FULL = Boolean.getBoolean("edge.full");

    private static final String RELAYS_LOG = "-Dlogback.configurationFile=logback.xml";
    private static final Duration FILLING = Duration.ofMinutes(5);

    private final RelayProcess process;
    private final RelayHttp http;
    private final HttpClient metrics = HttpClient.newHttpClient();

    private EdgeProcess(RelayProcess process) throws InterruptedException {
        this.process = process;
        process.awaitReady(FILLING);
        http = new RelayHttp(process.http());
    }

    static EdgeProcess start(Path data, String... arguments) throws IOException, InterruptedException {
        return start("-Xmx128m", data, arguments);
    }

    /** Starts with these arguments of {@link EdgeRelay}, and waits until the relay is ready. */
    static EdgeProcess start(String heap, Path data, String... arguments) throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(List.of("data=" + data));
        all.addAll(List.of(arguments));
        return new EdgeProcess(
                RelayProcess.start(List.of(), List.of(heap, RELAYS_LOG), EdgeRelay.class.getName(), all, line -> {}));
    }

    RelayProcess process() {
        return process;
    }

    int wsPort() {
        return process.wsPort();
    }

    RawClient bind(String pipe) throws IOException {
        RawClient client = RawClient.connect(wsPort());
        client.sendText("BIND:" + pipe);
        String answer = client.next(PATIENCE).text();
        if (!answer.equals("READY")) {
            client.reset();
            throw new IOException("not bound: pipe=" + pipe + ", answer=" + answer);
        }
        return client;
    }

    void publish(String pipe, ByteBuffer payload) throws IOException, InterruptedException {
        http.publish(pipe, "bytes", Map.of(), payload, null);
    }

    JsonNode status(String pipe) throws IOException, InterruptedException {
        return http.pipe(pipe);
    }

    void awaitStatus(String pipe, String member, long value) {
        await(pipe + ": " + member + "=" + value)
                .atMost(PATIENCE)
                .until(() -> status(pipe).path(member).asLong(-1) == value);
    }

    void awaitUnbound(String pipe) {
        await(pipe + ": no consumer")
                .atMost(PATIENCE)
                .until(() -> !status(pipe).path("consumer").asBoolean(true));
    }

    /** The value of a metric without labels. */
    long metric(String name) throws IOException, InterruptedException {
        return metricsPage()
                .filter(line -> line.startsWith(name + " "))
                .mapToLong(EdgeProcess::value)
                .findFirst()
                .orElseThrow(() -> new IOException("no such metric: name=" + name));
    }

    /** The sum of a metric's values for a pipe. */
    long labelled(String name, String pipe) throws IOException, InterruptedException {
        return metricsPage()
                .filter(line -> line.startsWith(name + "_total{") || line.startsWith(name + "{"))
                .filter(line -> line.contains("pipe=\"" + pipe + "\""))
                .mapToLong(EdgeProcess::value)
                .sum();
    }

    private Stream<String> metricsPage() throws IOException, InterruptedException {
        URI uri = process.http().resolve("/metrics");
        return metrics.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString())
                .body()
                .lines();
    }

    private static long value(String line) {
        return Double.valueOf(line.substring(line.lastIndexOf(' ') + 1)).longValue();
    }

    /** Lines that the relay printed with this in them. */
    List<String> said(String part) {
        return process.output().stream().filter(line -> line.contains(part)).toList();
    }

    @Override
    public void close() {
        process.close();
    }
}
