package io.tabletrelay.core.http;

import static io.tabletrelay.core.http.HttpFixture.json;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CreatePipeOverHttpTest {
    private static final String V1 = "{\"settings\":{\"tablet-format\":\"v1\"}}";

    private final HttpFixture http = new HttpFixture();

    @AfterEach
    void close() {
        http.close();
    }

    @Test
    void aPipeIsMadeOnceAndShowsItsSettings() {
        HttpResponse<String> made = put("/v1/pipes/a%2Fb", V1);
        HttpResponse<String> again = put("/v1/pipes/a%2Fb", V1);

        assertThat(made.statusCode()).isEqualTo(201);
        assertThat(made.body())
                .isEqualTo("{\"name\":\"a/b\",\"created\":true,\"settings\":{\"tablet-format\":\"v1\"}}");
        assertThat(again.statusCode()).isEqualTo(200);
        assertThat(json(again).get("created").asBoolean()).isFalse();
        assertThat(json(http.get("/v1/pipes/a%2Fb"))
                        .path("settings")
                        .path("tablet-format")
                        .asText())
                .isEqualTo("v1");
    }

    @Test
    void aPipeOfOtherSettingsIsAConflict() {
        put("/v1/pipes/plant", "{\"settings\":{}}");

        HttpResponse<String> refusal = put("/v1/pipes/plant", V1);

        assertThat(refusal.statusCode()).isEqualTo(409);
        assertThat(json(refusal).get("code").asText()).isEqualTo("PIPE_EXISTS");
        assertThat(json(http.get("/v1/pipes/plant")).get("settings")).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"settings\":{\"tablet-fromat\":\"v1\"}} | setting=tablet-fromat; allowed=[block-timeout, ",
                "{\"settings\":{\"tablet-format\":\"v3\"}} | tablet-format=v3; allowed=[v1, v2]",
                "{\"settings\":{\"tablet-format\":1}} | value of tablet-format is no text",
                "{\"settings\":{\"tablet-format\":\"v1\",\"tablet-format\":\"v2\"}} | not json",
                "{\"settings\":[]} | not an object with settings alone",
                "{\"settings\":{},\"window\":{}} | not an object with settings alone",
                "{} | not an object with settings alone",
                "[] | not an object with settings alone",
                "{\"settings\":{}}x | not json",
                "`` | not an object with settings alone"
            })
    void whatIsNotUnderstoodMakesNoPipe(String body, String problem) {
        HttpResponse<String> refusal = put("/v1/pipes/plant", body);

        assertThat(refusal.statusCode()).isEqualTo(400);
        JsonNode answer = json(refusal);
        assertThat(answer.get("code").asText()).isEqualTo("BAD_REQUEST");
        assertThat(answer.get("detail").asText()).contains(problem);
        assertThat(http.pipes.names()).isEmpty();
    }

    @Test
    void aBodyWithoutEndIsRefused() {
        assertThat(put("/v1/pipes/plant", " ".repeat(20_000) + V1).statusCode()).isEqualTo(413);
    }

    private HttpResponse<String> put(String path, String body) {
        return http.send(HttpRequest.newBuilder(http.uri(path)).PUT(BodyPublishers.ofString(body)));
    }
}
