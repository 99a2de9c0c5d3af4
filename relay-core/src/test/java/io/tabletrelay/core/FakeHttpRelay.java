package io.tabletrelay.core;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The relay's HTTP API as far as the command line uses it, storing bodies by sequence; can lose answers and refuse.
 *
 * <p>Threading: thread-safe by its monitor.
 */
final class FakeHttpRelay implements AutoCloseable {
    private final HttpServer server;
    private final List<String> bodies = new ArrayList<>();
    private final List<String> queries = new ArrayList<>();
    private int answersToLose;
    private int busyAnswers;
    private long forgottenSequence;
    private int timesToForget;
    private String badEvent = "";
    private String settings = "";

    FakeHttpRelay() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/v1/pipes/plant", this::create);
        server.createContext("/v1/pipes/plant/events", this::publish);
        server.createContext("/v1/pipes/plant/events/7/explain", this::explain);
        server.createContext("/v1/pipes/plant/producers/", this::producer);
        server.createContext("/v1/pipes/plant/subscriptions", this::subscriptions);
        server.createContext("/v1/pipes/plant/dead-letters", this::deadLetters);
        server.start();
    }

    URI address() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    synchronized List<String> bodies() {
        return List.copyOf(bodies);
    }

    synchronized List<String> queries() {
        return List.copyOf(queries);
    }

    /** The next answers are not sent, though what they answer is stored. */
    synchronized void loseAnswers(int answers) {
        answersToLose = answers;
    }

    synchronized void beBusy(int answers) {
        busyAnswers = answers;
    }

    /** A publish with this sequence is answered as if it were stored, and is not counted, so many times. */
    synchronized void forget(long sequence, int times) {
        forgottenSequence = sequence;
        timesToForget = times;
    }

    /** A body with this text is refused at its second line. */
    synchronized void refuse(String text) {
        badEvent = text;
    }

    private synchronized void publish(HttpExchange exchange) throws IOException {
        queries.add(exchange.getRequestURI().getQuery());
        Map<String, String> query = Stream.of(
                        exchange.getRequestURI().getQuery().split("&"))
                .map(pair -> pair.split("=", 2))
                .collect(Collectors.toMap(pair -> pair[0], pair -> pair[1]));
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        if (busyAnswers > 0) {
            busyAnswers--;
            answer(exchange, 429, "{\"status\":429,\"code\":\"BUSY\",\"detail\":\"too much is waiting\"}");
            return;
        }
        if (!badEvent.isEmpty() && body.contains(badEvent)) {
            answer(exchange, 400, "{\"status\":400,\"code\":\"BAD_EVENT\",\"detail\":\"bad\",\"line\":2,\"column\":1}");
            return;
        }
        long sequence = Long.parseLong(query.getOrDefault("sequence", String.valueOf(bodies.size() + 1)));
        if (sequence > bodies.size() + 1) {
            answer(
                    exchange,
                    409,
                    "{\"status\":409,\"code\":\"OUT_OF_SEQUENCE\",\"detail\":\"a gap\",\"last\":%d}"
                            .formatted(bodies.size()));
            return;
        }
        if (sequence == forgottenSequence && timesToForget > 0) {
            timesToForget--;
            answer(exchange, 200, "{\"firstId\":0,\"lastId\":0,\"count\":0,\"duplicate\":false}");
            return;
        }
        boolean duplicate = sequence <= bodies.size();
        if (!duplicate) {
            bodies.add(body);
        }
        if (answersToLose > 0) {
            answersToLose--;
            exchange.close();
            return;
        }
        answer(
                exchange,
                200,
                "{\"firstId\":%d,\"lastId\":%d,\"count\":1,\"duplicate\":%s}".formatted(sequence, sequence, duplicate));
    }

    private synchronized void create(HttpExchange exchange) throws IOException {
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        boolean isNew = settings.isEmpty();
        if (isNew) {
            settings = body;
        }
        if (settings.equals(body)) {
            answer(exchange, isNew ? 201 : 200, "{\"name\":\"plant\",\"created\":%s}".formatted(isNew));
        } else {
            answer(
                    exchange,
                    409,
                    "{\"status\":409,\"code\":\"PIPE_EXISTS\",\"detail\":\"pipe exists with other settings\"}");
        }
    }

    private synchronized void producer(HttpExchange exchange) throws IOException {
        answer(exchange, 200, "{\"producer\":\"p\",\"lastSequence\":%d}".formatted(bodies.size()));
    }

    /** Says what was asked for. */
    private synchronized void subscriptions(HttpExchange exchange) throws IOException {
        String asked =
                exchange.getRequestMethod() + " " + exchange.getRequestURI().getRawPath() + " "
                        + new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        bodies.add(asked);
        if (asked.contains("busy")) {
            answer(exchange, 412, "{\"code\":\"WRONG_STATE\",\"detail\":\"subscription has a consumer\"}");
            return;
        }
        String one = "{\"name\":\"a/b\",\"start\":3,\"floor\":2,\"backlog\":9}";
        answer(exchange, 200, asked.startsWith("GET") ? "{\"subscriptions\":[" + one + "]}" : one);
    }

    /** Says what was asked for; there are two pages of letters, and a redrive takes two requests. */
    private synchronized void deadLetters(HttpExchange exchange) throws IOException {
        String asked = exchange.getRequestMethod() + " " + exchange.getRequestURI();
        boolean again = bodies.contains(asked);
        bodies.add(asked);
        if (asked.contains("gone")) {
            answer(exchange, 404, "{\"code\":\"NO_SUCH_SUBSCRIPTION\",\"detail\":\"subscription is gone\"}");
        } else if (asked.startsWith("POST")) {
            answer(exchange, 200, "{\"redriven\":256,\"passed\":1,\"more\":%s}".formatted(!again));
        } else if (asked.startsWith("DELETE")) {
            answer(exchange, 200, "{\"purged\":4,\"more\":false}");
        } else {
            String one = "{\"number\":%d,\"eventId\":7,\"subscription\":\"a\",\"reason\":\"terminated\","
                    + "\"failedDeliveries\":2,\"lastError\":\"no such unit\"}";
            boolean last = asked.endsWith("after=1");
            String page = last ? "{\"deadLetters\":[" + one + "]}" : "{\"deadLetters\":[" + one + "],\"next\":1}";
            answer(exchange, 200, (asked.contains("?") ? page : one).formatted(last ? 2 : 1));
        }
    }

    private synchronized void explain(HttpExchange exchange) throws IOException {
        answer(
                exchange,
                200,
                "{\"text\":\"event 7: %s\"}".formatted(exchange.getRequestURI().getRawQuery()));
    }

    private static void answer(HttpExchange exchange, int status, String json) throws IOException {
        byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
