package io.tabletrelay.core.http;

import static io.tabletrelay.core.http.HttpFixture.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import com.fasterxml.jackson.databind.JsonNode;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

class PublishOverHttpTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final HttpFixture http = new HttpFixture();

    @AfterEach
    void close() {
        http.close();
    }

    @Test
    void aPostIsAnsweredWithIdsAndDurability() {
        HttpResponse<String> response = http.post("/v1/pipes/plant/events?type=csv&header=no", "a,b");

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.body())
                .isEqualTo("{\"firstId\":1,\"lastId\":1,\"count\":1,\"duplicate\":false,\"durability\":\"process\"}");
        assertThat(response.headers().firstValue("Content-Type")).hasValue("application/json");
        assertThat(response.headers().firstValue("Server")).isEmpty();
        assertThat(http.published).singleElement().satisfies(one -> {
            assertThat(one.type()).isEqualTo("csv");
            assertThat(one.options()).containsOnlyKeys("header").containsEntry("header", "no");
            assertThat(one.bytes()).isEqualTo("a,b");
            assertThat(one.sequence()).isNull();
        });
    }

    @Test
    void theAnswerComesOnlyAfterTheAppendAndHoldsUpNobodyElse() {
        http.pipes.pipe("slow").hold();
        List<CompletableFuture<HttpResponse<String>>> waiting = new ArrayList<>();

        for (int i = 0; i < 40; i++) {
            waiting.add(http.postLater("/v1/pipes/slow/events?type=json", "{}"));
        }
        await().atMost(PATIENCE).until(() -> http.pipes.pipe("slow").heldUp() == 40);

        assertThat(http.post("/v1/pipes/other/events?type=json", "{}").statusCode())
                .isEqualTo(200);
        assertThat(waiting).noneMatch(CompletableFuture::isDone);
        http.pipes.pipe("slow").letGo();
        assertThat(waiting)
                .allSatisfy(answer -> assertThat(answer.join().statusCode()).isEqualTo(200));
    }

    @Test
    void aRepeatIsAnsweredAsOne() {
        String path = "/v1/pipes/plant/events?type=json&producer=meter%201&sequence=1";
        assertThat(json(http.post(path, "{}")).get("duplicate").asBoolean()).isFalse();

        JsonNode repeat = json(http.post(path, "{}"));

        assertThat(repeat.get("duplicate").asBoolean()).isTrue();
        assertThat(repeat.get("firstId").asLong()).isEqualTo(7);
        assertThat(repeat.get("count").asLong()).isEqualTo(2);
    }

    @Test
    void oneOutOfSequenceIsToldTheLast() {
        String path = "/v1/pipes/plant/events?type=json&producer=meter&sequence=";
        assertThat(http.post(path + 1, "{}").statusCode()).isEqualTo(200);

        HttpResponse<String> response = http.post(path + 3, "{}");

        assertThat(response.statusCode()).isEqualTo(409);
        assertThat(json(response).get("code").asText()).isEqualTo("OUT_OF_SEQUENCE");
        assertThat(json(response).get("last").asLong()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({
        "BAD_EVENT, 400",
        "BAD_NAME, 400",
        "BAD_REQUEST, 400",
        "NO_SERIALIZER, 400",
        "NO_SUCH_PIPE, 404",
        "OUT_OF_SEQUENCE, 409",
        "TOO_LARGE, 413",
        "BUSY, 429",
        "PIPE_FULL, 429",
        "STORAGE_FULL, 507",
        "PIPE_FAILED, 503",
        "STOPPING, 503",
        "INTERNAL, 500",
        "CANNOT_START, 500"
    })
    void everyErrorHasItsStatusAndItsCode(ErrorCode code, int status) {
        http.failWith(new RelayException(code, "because: key=value"));

        HttpResponse<String> response = http.post("/v1/pipes/plant/events?type=json", "{}");

        assertThat(response.statusCode()).isEqualTo(status);
        assertThat(response.headers().firstValue("Content-Type")).hasValue("application/problem+json");
        assertThat(response.headers().firstValue("Retry-After").isPresent()).isEqualTo(status == 429);
        JsonNode problem = json(response);
        assertThat(problem.get("type").asText()).isEqualTo("about:blank");
        assertThat(problem.get("title").asText()).isNotBlank();
        assertThat(problem.get("status").asInt()).isEqualTo(status);
        assertThat(problem.get("code").asText()).isEqualTo(code.name());
        assertThat(problem.get("detail").asText()).isEqualTo("because: key=value");
        assertThat(problem.has("line")).isFalse();
    }

    @Test
    void aFaultOfOursIsToldWithoutItsDetails() {
        Logger log = (Logger) LoggerFactory.getLogger(Problem.class);
        log.setLevel(Level.OFF);
        http.failWith(new IllegalStateException("secret"));

        HttpResponse<String> response = http.post("/v1/pipes/plant/events?type=json", "{}");

        assertThat(response.statusCode()).isEqualTo(500);
        assertThat(json(response).get("code").asText()).isEqualTo("INTERNAL");
        assertThat(response.body()).doesNotContain("secret", "IllegalState");
        log.setLevel(null);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a/b",
                "..",
                ".",
                "%",
                "a%2Fb",
                ";x=1",
                "a b",
                "Anlage № 7",
                "\"<>|^`{}\\",
                "?#&=+",
                "☃",
                "a//b",
                "~'*"
            })
    void anyPrintableNameWorksInThePath(String name) {
        String encoded = URLEncoder.encode(name, StandardCharsets.UTF_8)
                .replace("+", "%20")
                .replace(".", "%2E");

        assertThat(http.post("/v1/pipes/" + encoded + "/events?type=json", "{}").statusCode())
                .isEqualTo(200);

        assertThat(http.published.get(0).pipe().value()).isEqualTo(name);
        assertThat(json(http.get("/v1/pipes/" + encoded)).get("name").asText()).isEqualTo(name);
    }

    @ParameterizedTest
    @CsvSource({
        "%20, BAD_NAME, pipe name is empty",
        "%07, BAD_NAME, U+0007",
        "%C3%28, BAD_REQUEST, utf-8",
    })
    void aNameThatCannotBeOneIsRefused(String encoded, String code, String detail) throws IOException {
        String answer = raw(
                head("/v1/pipes/" + encoded + "/events?type=json", "Connection: close", "Content-Length: 2") + "{}");

        assertThat(answer).startsWith("HTTP/1.1 400 ").contains("\"code\":\"" + code + "\"");
        assertThat(http.published).isEmpty();
        assertThat(answer).containsAnyOf(detail, "Bad", "Illegal");
    }

    @ParameterizedTest
    @CsvSource({
        "'', 'available=[csv, json]'",
        "?type=, 'available=[csv, json]'",
        "?type=json&producer=a, missing=sequence",
        "?type=json&sequence=1, missing=producer",
        "?type=json&producer=a&sequence=0, sequence=0",
        "?type=json&producer=a&sequence=x, sequence=x",
        "?type=json&producer=&sequence=1, producer name",
        "?type=json&type=csv, option=type",
        "?type=json&x=%zz, percent-encoded",
    })
    void aQueryThatMakesNoSenseIsRefused(String query, String detail) throws IOException {
        String answer = raw(head("/v1/pipes/plant/events" + query, "Connection: close", "Content-Length: 2") + "{}");

        assertThat(answer).startsWith("HTTP/1.1 400 ").contains("\"code\":\"BAD_REQUEST\"", detail);
        assertThat(http.published).isEmpty();
    }

    @Test
    void jsonNeedsNoTypeWhenItsContentTypeSaysSo() {
        HttpResponse<String> response = http.send(HttpRequest.newBuilder(http.uri("/v1/pipes/plant/events"))
                .header("Content-Type", "Application/JSON; charset=utf-8")
                .POST(BodyPublishers.ofString("{}")));

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(http.published.get(0).type()).isEqualTo("json");
    }

    @Test
    void anAddressThatIsTooLongIsToldTheLimit() throws IOException {
        String answer = raw(head("/v1/pipes/plant/events?a=" + "x".repeat(20_000), "Connection: close"));

        assertThat(answer)
                .startsWith("HTTP/1.1 414 ")
                .contains("\"code\":\"BAD_REQUEST\"", "address is too long: limitBytes=16384");
    }

    @Test
    void headersThatAreTooLargeAreToldTheLimit() throws IOException {
        String answer = raw(head("/v1/pipes/plant/events", "Connection: close", "X: " + "x".repeat(20_000)));

        assertThat(answer)
                .startsWith("HTTP/1.1 431 ")
                .contains("\"code\":\"BAD_REQUEST\"", "headers are too large: limitBytes=16384");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET /livez\r\n\r\n",
                "GET /livez HTTP/3.7\r\n\r\n",
                "GET /livez HTPT/1.1\r\n\r\n",
                "\u0001\u0002\r\n\r\n",
                "GET /livez HTTP/1.1\r\n\r\n",
                "GET /livez HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n"
            })
    void whatIsNoRequestIsTheClientsFaultAndSaysWhy(String request) throws IOException {
        String answer = raw(request);

        assertThat(answer)
                .contains("\"code\":\"BAD_REQUEST\"")
                .containsAnyOf("version of HTTP is not spoken here: reason=", "request is not understood: reason=")
                .doesNotContain("null");
    }

    @Test
    void asManyConnectionsAsFitUnderAnEighthOfTheOpenFiles() {
        assertThat(HttpEdge.maxConnections(1_024)).isEqualTo(128);
        assertThat(HttpEdge.maxConnections(1_000_000)).isEqualTo(2_000);
        assertThat(HttpEdge.maxConnections(1)).isEqualTo(1);
    }

    private String raw(String request) throws IOException {
        try (Socket socket = connect()) {
            send(socket, request);
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), http.edge.port());
        socket.setSoTimeout((int) PATIENCE.toMillis());
        return socket;
    }

    private static String head(String path, String... headers) {
        return "POST " + path + " HTTP/1.1\r\nHost: x\r\n" + String.join("\r\n", headers) + "\r\n\r\n";
    }

    private static void send(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
    }
}
