package io.tabletrelay.core.http;

import static io.tabletrelay.core.http.HttpFixture.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.HttpConfig;
import io.tabletrelay.core.delivery.DeadLetter;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LookingOverHttpTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final HttpFixture http = new HttpFixture();

    @AfterEach
    void close() {
        http.close();
    }

    @Test
    void aPipesStatusHasAllItsMembers() {
        assertThat(http.post("/v1/pipes/plant/events?type=json", "{}").statusCode())
                .isEqualTo(200);

        JsonNode status = json(http.get("/v1/pipes/plant"));

        assertThat(status.get("name").asText()).isEqualTo("plant");
        assertThat(status.get("state").asText()).isEqualTo("OPEN");
        assertThat(status.get("durability").asText()).isEqualTo("process");
        assertThat(status.get("lastId").asLong()).isEqualTo(1);
        assertThat(status.get("consumer").asBoolean()).isFalse();
    }

    @Test
    void pipesAreListedByNameInPages() {
        List.of("c", "a", "b/x").forEach(http.pipes::pipe);

        JsonNode first = json(http.get("/v1/pipes?limit=2"));
        JsonNode second = json(http.get("/v1/pipes?limit=2&after=b%2Fx"));

        assertThat(first.get("pipes").findValuesAsText("name")).containsExactly("a", "b/x");
        assertThat(first.get("next").asText()).isEqualTo("b/x");
        assertThat(second.get("pipes").findValuesAsText("name")).containsExactly("c");
        assertThat(second.has("next")).isFalse();
    }

    /** A silent pipe never answers, and need not. */
    @Test
    void aListIsMadeWithoutAskingThePipes() {
        http.pipes.pipe("good");
        http.pipes.pipe("stuck").fallSilent();

        JsonNode pipes = json(http.get("/v1/pipes")).get("pipes");

        assertThat(pipes.findValuesAsText("name")).containsExactly("good", "stuck");
    }

    @Test
    void anEventsStateIsShown() {
        assertThat(http.post("/v1/pipes/plant/events?type=json", "{}").statusCode())
                .isEqualTo(200);

        assertThat(json(http.get("/v1/pipes/plant/events/1")).get("state").asText())
                .isEqualTo("undelivered");
        assertThat(json(http.get("/v1/pipes/plant/events/2")).get("state").asText())
                .isEqualTo("unknown");
        assertThat(http.get("/v1/pipes/plant/events/x").statusCode()).isEqualTo(400);
    }

    @Test
    void anEventIsExplainedForAllSubscriptionsOrOne() {
        http.pipes.pipe("plant");

        assertThat(json(http.get("/v1/pipes/plant/events/3/explain"))
                        .get("text")
                        .asText())
                .isEqualTo("event 3 of pipe plant: nobody knows");
        JsonNode ofOne = json(http.get("/v1/pipes/plant/events/3/explain?subscription=a%2Fb"));
        assertThat(ofOne.get("text").asText()).isEqualTo("event 3 of pipe plant: for subscription a/b it is fine");
        assertThat(ofOne.get("subscriptions").findValuesAsText("name")).containsExactly("a/b");
        assertThat(http.get("/v1/pipes/plant/events/x/explain").statusCode()).isEqualTo(400);
        assertThat(http.post("/v1/pipes/plant/events/3/explain", "").statusCode())
                .isEqualTo(405);
    }

    @Test
    void aProducersLastSequenceIsShown() {
        assertThat(http.post("/v1/pipes/plant/events?type=json&producer=a%2Fb&sequence=1", "{}")
                        .statusCode())
                .isEqualTo(200);

        assertThat(http.get("/v1/pipes/plant/producers/a%2Fb").body())
                .isEqualTo("{\"producer\":\"a/b\",\"lastSequence\":1}");
        assertThat(http.get("/v1/pipes/plant/producers/other").body())
                .isEqualTo("{\"producer\":\"other\",\"lastSequence\":0}");
    }

    @Test
    void deadLettersAreShownInPages() {
        for (int number = 1; number <= 3; number++) {
            http.pipes
                    .pipe("plant")
                    .bury(new DeadLetter(number, 10L + number, "max-deliveries", 20, "nack", 1_000, 5, "default"));
        }

        JsonNode letters =
                json(http.get("/v1/pipes/plant/dead-letters?after=1&limit=1")).get("deadLetters");

        assertThat(letters).hasSize(1);
        assertThat(letters.get(0).get("eventId").asLong()).isEqualTo(12);
        assertThat(letters.get(0).get("lastError").asText()).isEqualTo("nack");
        assertThat(http.get("/v1/pipes/plant/dead-letters?limit=0").statusCode())
                .isEqualTo(400);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "/events/1", "/producers/a", "/dead-letters"})
    void lookingForAPipeThatIsNotThereDoesNotMakeIt(String what) {
        HttpResponse<String> response = http.get("/v1/pipes/nowhere" + what);

        assertThat(response.statusCode()).isEqualTo(404);
        assertThat(json(response).get("code").asText()).isEqualTo("NO_SUCH_PIPE");
        assertThat(http.pipes.names()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/v1", "/v1/", "/v2/pipes", "/v1/pipes/p/other", "/v1/pipes/p/events/1/x", "/livez/"})
    void whatIsNotThereIsAProblemToo(String path) {
        HttpResponse<String> response = http.get(path);

        assertThat(response.statusCode()).isEqualTo(404);
        assertThat(response.headers().firstValue("Content-Type")).hasValue("application/problem+json");
        assertThat(json(response).get("code").asText()).isEqualTo("NOT_FOUND");
    }

    @ParameterizedTest
    @CsvSource({
        "GET, /v1/pipes/p/events, POST",
        "PATCH, /v1/pipes/p, 'GET, HEAD, PUT, DELETE'",
        "GET, /v1/pipes/p/drain, POST",
        "POST, /v1/pipes, 'GET, HEAD'",
        "POST, /metrics, 'GET, HEAD'",
        "PUT, /livez, 'GET, HEAD'"
    })
    void aWrongMethodIsToldTheRightOnes(String method, String path, String allowed) {
        HttpResponse<String> response =
                http.send(HttpRequest.newBuilder(http.uri(path)).method(method, BodyPublishers.ofString("{}")));

        assertThat(response.statusCode()).isEqualTo(405);
        assertThat(response.headers().firstValue("Allow")).hasValue(allowed);
        assertThat(json(response).get("code").asText()).isEqualTo("METHOD_NOT_ALLOWED");
    }

    @Test
    void headIsAnsweredLikeGetWithoutABody() {
        HttpResponse<String> response =
                http.send(HttpRequest.newBuilder(http.uri("/livez")).method("HEAD", BodyPublishers.noBody()));

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.body()).isEmpty();
    }

    @Test
    void itIsAliveAlwaysAndReadyWhenNothingIsMissing() {
        assertThat(http.get("/livez").statusCode()).isEqualTo(200);
        assertThat(http.get("/readyz").body()).isEqualTo("{\"status\":\"ready\"}");

        http.notReadyReasons.add("pipes are being opened: left=3");
        HttpResponse<String> response = http.get("/readyz");

        assertThat(response.statusCode()).isEqualTo(503);
        assertThat(json(response).get("reasons").get(0).asText()).isEqualTo("pipes are being opened: left=3");
        assertThat(http.get("/livez").statusCode()).isEqualTo(200);
    }

    @Test
    void metricsAreServedAsPrometheusWantsThem() {
        http.metrics.edge().malformedLine();

        HttpResponse<String> response = http.get("/metrics");

        assertThat(response.headers().firstValue("Content-Type"))
                .hasValueSatisfying(type -> assertThat(type).startsWith("text/plain; version=0.0.4"));
        assertThat(response.body()).contains("relay_edge_malformed_lines_total 1.0");
    }

    @Test
    void aTakenPortIsToldInOneLine() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                HttpEdge second = edge(taken.getLocalPort())) {
            assertThatThrownBy(second::start)
                    .isInstanceOfSatisfying(
                            RelayException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CANNOT_START))
                    .hasMessageContaining("127.0.0.1:" + taken.getLocalPort())
                    .hasMessageContaining("--http-port")
                    .hasMessageNotContaining("\n");
        }
    }

    @Test
    void stoppingLetsRunningRequestsEndAndTakesNoNewOnes() {
        http.pipes.pipe("slow").hold();
        var running = http.postLater("/v1/pipes/slow/events?type=json", "{}");
        await().atMost(PATIENCE).until(() -> http.pipes.pipe("slow").heldUp() == 1);

        CompletableFuture<Void> closing = CompletableFuture.runAsync(() -> http.edge.close(PATIENCE));
        await("new requests are refused").atMost(PATIENCE).until(() -> isRefused("/livez"));
        assertThat(closing).isNotDone();
        http.pipes.pipe("slow").letGo();

        assertThat(running.join().statusCode()).isEqualTo(200);
        closing.join();
    }

    private boolean isRefused(String path) {
        try {
            return http.get(path).statusCode() == 503;
        } catch (RuntimeException e) {
            return true;
        }
    }

    private HttpEdge edge(int port) {
        return new HttpEdge(
                new HttpConfig("127.0.0.1", port, 1),
                new RelayView(
                        (pipe, type, options, bytes, sequence) -> new CompletableFuture<>(),
                        List::of,
                        List::of,
                        name -> Optional.empty(),
                        (name, settings) -> new CompletableFuture<>(),
                        (name, ifVersion) -> new CompletableFuture<>(),
                        http.metrics,
                        List::of));
    }
}
