package io.tabletrelay.harness.bench.client;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;

/**
 * Publishes over HTTP/1.1 with connections kept alive: bodies of many JSON documents, one a line, and a few requests at once.
 *
 * <p>Threading: immutable; publishes on a thread of the common pool.
 */
public final class HttpFeed {
    private static final int MOST_EVENTS_PER_REQUEST = 256;
    private static final int MOST_BYTES_PER_REQUEST = 1 << 20;
    private static final int REQUESTS_AT_ONCE = 4;

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final URI target;
    private final int eventBytes;
    private final int eventsPerRequest;

    public HttpFeed(URI server, int eventBytes) {
        this.target = server.resolve("/v1/pipes/" + ServerProcess.PIPE + "/events?type=json");
        this.eventBytes = eventBytes;
        this.eventsPerRequest = Math.min(MOST_EVENTS_PER_REQUEST, MOST_BYTES_PER_REQUEST / eventBytes);
    }

    /** Begins to publish that many events; completes when all are stored. */
    public CompletableFuture<Void> publish(long events) {
        return CompletableFuture.runAsync(() -> publishAll(events));
    }

    private void publishAll(long events) {
        byte[] whole = body(eventsPerRequest);
        ArrayDeque<CompletableFuture<Void>> underWay = new ArrayDeque<>();
        for (long left = events; left > 0; left -= eventsPerRequest) {
            if (underWay.size() == REQUESTS_AT_ONCE) {
                underWay.remove().join();
            }
            underWay.add(post(left >= eventsPerRequest ? whole : body((int) left)));
        }
        underWay.forEach(CompletableFuture::join);
    }

    private CompletableFuture<Void> post(byte[] body) {
        HttpRequest request = HttpRequest.newBuilder(target)
                .POST(BodyPublishers.ofByteArray(body))
                .build();
        return client.sendAsync(request, BodyHandlers.ofString()).thenAccept(HttpFeed::check);
    }

    private static void check(HttpResponse<String> response) {
        if (response.statusCode() != 200) {
            throw new IllegalStateException(
                    "publish was refused: status=" + response.statusCode() + ", answer=" + response.body());
        }
    }

    /** Documents of exactly an event's size. */
    private byte[] body(int events) {
        String document = "{\"pad\":\"" + "x".repeat(eventBytes - 10) + "\"}\n";
        return document.repeat(events).getBytes(StandardCharsets.UTF_8);
    }
}
