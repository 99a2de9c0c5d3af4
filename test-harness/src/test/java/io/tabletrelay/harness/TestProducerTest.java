package io.tabletrelay.harness;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TestProducerTest {
    private final List<String> queries = new CopyOnWriteArrayList<>();
    private final History history = new History();
    private HttpServer server;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/v1/pipes/p/events", this::answerEverySecondRequest);
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    @Test
    void repeatsASequenceUntilItIsConfirmedAndRecordsWhatIs() throws Exception {
        Feed feed = new Feed("p", "f", "json", TestProducerTest::body, true, 3, Duration.ZERO);
        URI address = URI.create("http://127.0.0.1:" + server.getAddress().getPort());

        try (TestProducer producer = new TestProducer(feed, () -> address, history)) {
            producer.awaitEnd(Duration.ofSeconds(30));

            assertThat(producer.lastStored()).isEqualTo(3);
        }

        assertThat(queries)
                .map(query -> query.substring(query.lastIndexOf('=') + 1))
                .containsExactly("1", "1", "2", "2", "3", "3");
        assertThat(history.unacked()).containsExactly(1L, 2L, 3L);
    }

    private static ByteBuffer body(long sequence) {
        return ByteBuffer.wrap(("{\"n\":" + sequence + "}").getBytes(StandardCharsets.UTF_8));
    }

    /** The other requests are cut off without an answer. */
    private void answerEverySecondRequest(HttpExchange exchange) throws IOException {
        queries.add(exchange.getRequestURI().getQuery());
        int id = queries.size() / 2;
        if (queries.size() % 2 == 0) {
            byte[] json = "{\"firstId\":%d,\"lastId\":%d,\"count\":1}"
                    .formatted(id, id)
                    .getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, json.length);
            exchange.getResponseBody().write(json);
        }
        exchange.close();
    }
}
