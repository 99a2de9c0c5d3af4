package io.tabletrelay.core.http;

import static io.tabletrelay.core.http.HttpFixture.json;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SubscriptionsOverHttpTest {
    private static final String ALL = "/v1/pipes/plant/subscriptions";

    private final HttpFixture http = new HttpFixture();

    @BeforeEach
    void makePipe() {
        send("PUT", "/v1/pipes/plant", "{\"settings\":{}}");
    }

    @AfterEach
    void close() {
        http.close();
    }

    @Test
    void oneIsMadeOnceListedShownAndDeleted() {
        HttpResponse<String> made = send("PUT", ALL + "/a%2Fb", "{\"start\":7}");
        HttpResponse<String> again = send("PUT", ALL + "/a%2Fb", "");

        assertThat(made.statusCode()).isEqualTo(201);
        assertThat(json(made).get("start").asLong()).isEqualTo(7);
        assertThat(again.statusCode()).isEqualTo(200);
        assertThat(json(again).get("start").asLong()).isEqualTo(7);
        assertThat(json(http.get(ALL)).at("/subscriptions/0/name").asText()).isEqualTo("a/b");
        assertThat(json(http.get(ALL + "/a%2Fb")).get("floor").asLong()).isEqualTo(6);
        assertThat(send("DELETE", ALL + "/a%2Fb", "").statusCode()).isEqualTo(200);
        assertThat(json(http.get(ALL)).get("subscriptions")).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"latest, 1", "earliest, 1", "12, 12", "1970-01-01T00:00:01Z, 1000"})
    void theStartIsAWordAnIdOrATime(String start, long first) {
        send("PUT", ALL + "/a", "{}");

        HttpResponse<String> reset = send("POST", ALL + "/a/reset", "{\"start\":\"" + start + "\"}");

        assertThat(reset.statusCode()).isEqualTo(200);
        assertThat(json(reset).get("start").asLong()).isEqualTo(first);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"start\":\"yesterday\"}",
                "{\"start\":-1}",
                "{\"start\":1.5}",
                "{\"start\":\"latest\",\"x\":1}",
                "[1]",
                "{",
                "{\"start\":\"99999999999999999999\"}"
            })
    void aStartThatIsNoneIsRefusedAndChangesNothing(String body) {
        HttpResponse<String> refusal = send("PUT", ALL + "/a", body);

        assertThat(refusal.statusCode()).isEqualTo(400);
        assertThat(json(refusal).get("code").asText()).isEqualTo("BAD_REQUEST");
        assertThat(json(refusal).get("detail").asText()).contains("its start is not understood");
        assertThat(json(http.get(ALL)).get("subscriptions")).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"GET, /x", "DELETE, /x", "POST, /x/reset"})
    void oneThatIsNotThereIsSaidToBeMissing(String method, String path) {
        HttpResponse<String> refusal = send(method, ALL + path, "");

        assertThat(refusal.statusCode()).isEqualTo(404);
        assertThat(json(refusal).get("code").asText()).isEqualTo("NO_SUCH_SUBSCRIPTION");
    }

    @Test
    void lookingForSubscriptionsDoesNotMakeAPipe() {
        assertThat(json(http.get("/v1/pipes/none/subscriptions")).get("code").asText())
                .isEqualTo("NO_SUCH_PIPE");
        assertThat(json(send("PUT", "/v1/pipes/none/subscriptions/a", ""))
                        .get("code")
                        .asText())
                .isEqualTo("NO_SUCH_PIPE");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "POST | '' | GET, HEAD",
                "POST | /a | GET, HEAD, PUT, DELETE",
                "GET | /a/reset | POST",
            })
    void otherMethodsAreNotAllowed(String method, String path, String allowed) {
        HttpResponse<String> refusal = send(method, ALL + path, "");

        assertThat(refusal.statusCode()).isEqualTo(405);
        assertThat(refusal.headers().firstValue("Allow")).hasValue(allowed);
    }

    private HttpResponse<String> send(String method, String path, String body) {
        return http.send(HttpRequest.newBuilder(http.uri(path)).method(method, BodyPublishers.ofString(body)));
    }
}
