package io.tabletrelay.core.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tabletrelay.api.Appended;
import io.tabletrelay.api.Payload;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.api.Publisher;
import io.tabletrelay.core.config.HttpConfig;
import io.tabletrelay.core.config.PipeSettings;
import io.tabletrelay.core.metrics.RelayMetrics;
import io.tabletrelay.core.pipe.Answer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A server on a free port in front of pipes in memory, and a client for it. */
final class HttpFixture implements AutoCloseable {
    static final int MAX_REQUEST_BYTES = 100_000;

    final FakePipes pipes = new FakePipes();
    final List<Published> published = new CopyOnWriteArrayList<>();
    final List<String> notReadyReasons = new CopyOnWriteArrayList<>();
    final RelayMetrics metrics = new RelayMetrics();
    final HttpEdge edge;
    private final HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(20))
            .build();
    private volatile Function<Published, CompletionStage<Appended>> answer = this::append;

    HttpFixture() {
        this(Duration.ofSeconds(30));
    }

    HttpFixture(Duration idleTimeout) {
        Publisher publisher = (pipe, type, options, bytes, sequence) -> {
            Published one = new Published(pipe, type, options, copy(bytes), sequence);
            published.add(one);
            return answer.apply(one);
        };
        edge = new HttpEdge(
                new HttpConfig("127.0.0.1", 0, MAX_REQUEST_BYTES),
                new RelayView(
                        publisher,
                        () -> List.of("csv", "json"),
                        pipes::glances,
                        pipes::find,
                        pipes::create,
                        (name, ifVersion) -> CompletableFuture.failedFuture(new UnsupportedOperationException()),
                        metrics,
                        () -> List.copyOf(notReadyReasons)),
                idleTimeout);
        edge.start();
    }

    /** Publishes are answered like this from now on. */
    void answerWith(Function<Published, CompletionStage<Appended>> how) {
        answer = how;
    }

    void failWith(Throwable failure) {
        answer = one -> CompletableFuture.failedFuture(failure);
    }

    HttpResponse<String> get(String path) {
        return send(HttpRequest.newBuilder(uri(path)).GET());
    }

    HttpResponse<String> post(String path, String body) {
        return send(HttpRequest.newBuilder(uri(path)).POST(BodyPublishers.ofString(body)));
    }

    HttpResponse<String> send(HttpRequest.Builder request) {
        try {
            return client.send(request.timeout(Duration.ofSeconds(30)).build(), BodyHandlers.ofString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    CompletableFuture<HttpResponse<String>> postLater(String path, String body) {
        return client.sendAsync(
                HttpRequest.newBuilder(uri(path))
                        .POST(BodyPublishers.ofString(body))
                        .build(),
                BodyHandlers.ofString());
    }

    URI uri(String path) {
        return URI.create("http://127.0.0.1:" + edge.port() + path);
    }

    static JsonNode json(HttpResponse<String> response) {
        try {
            return new ObjectMapper().readTree(response.body());
        } catch (IOException e) {
            throw new UncheckedIOException(response.body(), e);
        }
    }

    private CompletionStage<Appended> append(Published one) {
        Answer answer = new Answer();
        pipes.pipe(one.pipe)
                .append(
                        List.of(new Payload(
                                "text/plain", Map.of(), ByteBuffer.wrap(one.bytes.getBytes(StandardCharsets.UTF_8)))),
                        one.sequence,
                        PipeSettings.NONE,
                        answer);
        return answer;
    }

    private static String copy(ByteBuffer bytes) {
        return StandardCharsets.UTF_8.decode(bytes.duplicate()).toString();
    }

    @Override
    public void close() {
        edge.close();
        metrics.close();
    }

    record Published(
            PipeName pipe,
            String type,
            Map<String, String> options,
            String bytes,
            @Nullable ProducerSequence sequence) {}
}
