package io.tabletrelay.core.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.ProducerSequence;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One relay's HTTP API. Each call is one attempt: it returns the answer, throws {@link RefusedException} if the relay
 * said no, and IOException if it is not known what became of the request.
 *
 * <p>Threading: thread-safe.
 */
public final class RelayHttp {
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(60);
    private static final int LARGEST_PORT = 65_535;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final URI server;
    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(CONNECT_TIMEOUT)
            .build();

    /** Takes the relay's address, e.g. {@code http://127.0.0.1:7071}; nothing is sent yet. */
    public RelayHttp(URI server) {
        if (server.getHost() == null || !"http".equals(server.getScheme()) || server.getPort() > LARGEST_PORT) {
            throw new IllegalArgumentException(
                    "not a relay's address: server=" + server + "; write it like http://127.0.0.1:7071");
        }
        this.server = server;
    }

    public String host() {
        return server.getHost();
    }

    /**
     * Publishes a body to a pipe.
     *
     * @param type the source type, names the serializer
     * @param options further query parameters, for the serializer
     * @param body an array's bytes from its position to its limit, which stay as they are
     * @param sequence makes the publish safe to repeat
     */
    public Stored publish(
            String pipe, String type, Map<String, String> options, ByteBuffer body, @Nullable ProducerSequence sequence)
            throws IOException, InterruptedException {
        StringBuilder query = new StringBuilder("?type=").append(encode(type));
        if (sequence != null) {
            query.append("&producer=").append(encode(sequence.producer()));
            query.append("&sequence=").append(sequence.sequence());
        }
        options.forEach((name, value) ->
                query.append('&').append(encode(name)).append('=').append(encode(value)));
        JsonNode answer = send(request("/v1/pipes/" + encode(pipe) + "/events" + query)
                .POST(BodyPublishers.ofByteArray(body.array(), body.arrayOffset() + body.position(), body.remaining()))
                .build());
        return new Stored(
                answer.path("firstId").asLong(),
                answer.path("lastId").asLong(),
                answer.path("count").asInt(),
                answer.path("duplicate").asBoolean());
    }

    /** The highest sequence that the pipe has stored for this producer; 0 if none, or if there is no such pipe. */
    public long lastSequence(String pipe, String producer) throws IOException, InterruptedException {
        try {
            return get("/v1/pipes/" + encode(pipe) + "/producers/" + encode(producer))
                    .path("lastSequence")
                    .asLong();
        } catch (RefusedException refused) {
            if (refused.code() == ErrorCode.NO_SUCH_PIPE) {
                return 0;
            }
            throw refused;
        }
    }

    /** Makes a pipe with these settings. Returns false if it was there with settings that mean the same. */
    public boolean createPipe(String pipe, Map<String, String> settings) throws IOException, InterruptedException {
        byte[] body = JSON.writeValueAsBytes(Map.of("settings", settings));
        return send(request("/v1/pipes/" + encode(pipe))
                        .PUT(BodyPublishers.ofByteArray(body))
                        .build())
                .path("created")
                .asBoolean();
    }

    /** The pipe's status as JSON. */
    public JsonNode pipe(String pipe) throws IOException, InterruptedException {
        return get("/v1/pipes/" + encode(pipe));
    }

    /** Up to a page of pipes by name, from behind this one on, as JSON; {@code next} says how to go on if there are more. */
    public JsonNode pipes(String after) throws IOException, InterruptedException {
        return get("/v1/pipes?limit=1000&after=" + encode(after));
    }

    /**
     * Changes the pipe's state; returns its status as JSON.
     *
     * @param verb pause, resume, drain, close, open or reopen
     * @param ifVersion the version that the state must have; null: any
     */
    public JsonNode changePipe(String pipe, String verb, @Nullable Long ifVersion)
            throws IOException, InterruptedException {
        return send(request("/v1/pipes/" + encode(pipe) + "/" + verb, ifVersion)
                .POST(BodyPublishers.noBody())
                .build());
    }

    /** Deletes the pipe; {@code ifVersion}: as for {@link #changePipe}. */
    public void deletePipe(String pipe, @Nullable Long ifVersion) throws IOException, InterruptedException {
        send(request("/v1/pipes/" + encode(pipe), ifVersion).DELETE().build());
    }

    /** Where one event is, as JSON. */
    public JsonNode event(String pipe, long id) throws IOException, InterruptedException {
        return get("/v1/pipes/" + encode(pipe) + "/events/" + id);
    }

    /** Where one event is and why, as JSON; {@code subscription}: for this one alone; empty: for all. */
    public JsonNode explain(String pipe, long id, String subscription) throws IOException, InterruptedException {
        String path = "/v1/pipes/" + encode(pipe) + "/events/" + id + "/explain";
        return get(subscription.isEmpty() ? path : path + "?subscription=" + encode(subscription));
    }

    /** The pipe's subscriptions as JSON. */
    public JsonNode subscriptions(String pipe) throws IOException, InterruptedException {
        return get("/v1/pipes/" + encode(pipe) + "/subscriptions");
    }

    /** Makes a subscription, unless it is there. Returns its status as JSON. */
    public JsonNode createSubscription(String pipe, String name, String start)
            throws IOException, InterruptedException {
        return send(request(subscription(pipe, name)).PUT(startBody(start)).build());
    }

    /** Begins a subscription anew. Returns its status as JSON. */
    public JsonNode resetSubscription(String pipe, String name, String start) throws IOException, InterruptedException {
        return send(request(subscription(pipe, name) + "/reset")
                .POST(startBody(start))
                .build());
    }

    /** Deletes a subscription. */
    public JsonNode deleteSubscription(String pipe, String name) throws IOException, InterruptedException {
        return send(request(subscription(pipe, name)).DELETE().build());
    }

    /** Up to a page of dead letters with numbers above this one, as JSON; {@code next} says how to go on if there may be more. */
    public JsonNode deadLetters(String pipe, long after) throws IOException, InterruptedException {
        return get(letters(pipe) + "?limit=1000&after=" + after);
    }

    /** One dead letter with its event, as JSON. */
    public JsonNode deadLetter(String pipe, long number) throws IOException, InterruptedException {
        return get(letters(pipe) + "/" + number);
    }

    /** Redrives dead letters; says as JSON how many, and whether to ask again for more. */
    public JsonNode redrive(String pipe, Map<String, String> which) throws IOException, InterruptedException {
        return send(request(letters(pipe) + "/redrive" + query(which))
                .POST(BodyPublishers.noBody())
                .build());
    }

    /** Purges dead letters; says as JSON how many, and whether to ask again for more. */
    public JsonNode purge(String pipe, Map<String, String> which) throws IOException, InterruptedException {
        return send(request(letters(pipe) + query(which)).DELETE().build());
    }

    private static String letters(String pipe) {
        return "/v1/pipes/" + encode(pipe) + "/dead-letters";
    }

    private static String query(Map<String, String> options) {
        return options.entrySet().stream()
                .map(option -> encode(option.getKey()) + "=" + encode(option.getValue()))
                .collect(Collectors.joining("&", "?", ""));
    }

    private static String subscription(String pipe, String name) {
        return "/v1/pipes/" + encode(pipe) + "/subscriptions/" + encode(name);
    }

    private static HttpRequest.BodyPublisher startBody(String start) throws JsonProcessingException {
        return BodyPublishers.ofByteArray(JSON.writeValueAsBytes(Map.of("start", start)));
    }

    private JsonNode get(String path) throws IOException, InterruptedException {
        return send(request(path).GET().build());
    }

    private HttpRequest.Builder request(String path, @Nullable Long ifVersion) {
        HttpRequest.Builder request = request(path);
        return ifVersion == null ? request : request.header("If-Match", "\"" + ifVersion + "\"");
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(server.resolve(path)).timeout(ANSWER_TIMEOUT);
    }

    private JsonNode send(HttpRequest request) throws IOException, InterruptedException {
        HttpResponse<byte[]> response;
        try {
            response = http.send(request, BodyHandlers.ofByteArray());
        } catch (ConnectException e) {
            throw new ConnectException("cannot reach the relay: server=" + server + "; is it running?");
        } catch (IOException e) {
            throw new IOException("no answer from the relay: server=" + server + ", cause=" + cause(e), e);
        }
        JsonNode answer = parse(response.body());
        if (response.statusCode() == 200 || response.statusCode() == 201) {
            return answer;
        }
        throw refusal(response.statusCode(), answer);
    }

    private static String cause(IOException e) {
        return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    }

    private static RefusedException refusal(int status, JsonNode answer) {
        String detail = answer.path("detail").asText("the relay refused: status=" + status);
        return new RefusedException(
                code(status, answer.path("code").asText("")),
                detail,
                answer.path("line").asLong(RefusedException.NO_LINE),
                answer.path("column").asLong(),
                answer.path("last").asLong(RefusedException.NO_SEQUENCE));
    }

    private static ErrorCode code(int status, String name) {
        for (ErrorCode code : ErrorCode.values()) {
            if (code.name().equals(name)) {
                return code;
            }
        }
        return switch (status) {
            case 429, 502, 503, 504 -> ErrorCode.BUSY;
            case 507 -> ErrorCode.STORAGE_FULL;
            case 413 -> ErrorCode.TOO_LARGE;
            default -> status >= 500 ? ErrorCode.INTERNAL : ErrorCode.BAD_REQUEST;
        };
    }

    /** What is not JSON comes from something that is not a relay; the status says enough then. */
    private static JsonNode parse(byte[] body) throws IOException {
        try {
            return JSON.readTree(body);
        } catch (JsonProcessingException e) {
            return MissingNode.getInstance();
        }
    }

    private static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /**
     * The relay's confirmation.
     *
     * @param duplicate true if this sequence had been stored before; the ids are those given then
     */
    public record Stored(long firstId, long lastId, int count, boolean duplicate) {}
}
