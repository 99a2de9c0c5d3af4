package io.tabletrelay.core.http;

import static io.tabletrelay.core.http.HttpFixture.json;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.delivery.DeadLetter;
import io.tabletrelay.core.delivery.LetterSelection;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LettersOverHttpTest {
    private static final String LETTERS = "/v1/pipes/plant/dead-letters";

    private final HttpFixture http = new HttpFixture();
    private FakePipe plant;

    @BeforeEach
    void bury() {
        plant = http.pipes.pipe("plant");
        for (int number = 1; number <= 3; number++) {
            plant.bury(new DeadLetter(number, 10L + number, "terminated", 2, "no such unit", 1_000, 6, "a"));
        }
    }

    @AfterEach
    void close() {
        http.close();
    }

    @Test
    void aListSaysHowItGoesOn() {
        JsonNode first = json(http.get(LETTERS + "?limit=2"));
        JsonNode second = json(http.get(LETTERS + "?limit=2&after=" + first.get("next")));

        assertThat(first.get("deadLetters").findValuesAsText("number")).containsExactly("1", "2");
        assertThat(second.get("deadLetters").findValuesAsText("number")).containsExactly("3");
        assertThat(second.has("next")).isFalse();
    }

    @Test
    void oneIsShownWithItsEvent() {
        JsonNode letter = json(http.get(LETTERS + "/2"));

        assertThat(letter.get("eventId").asLong()).isEqualTo(12);
        assertThat(letter.get("subscription").asText()).isEqualTo("a");
        assertThat(letter.get("reason").asText()).isEqualTo("terminated");
        assertThat(letter.get("lastError").asText()).isEqualTo("no such unit");
        assertThat(letter.get("headers").get("plant").asText()).isEqualTo("north");
        assertThat(letter.get("contentType").asText()).isEqualTo("text/plain");
        assertThat(letter.get("payload").asText()).isEqualTo("42 °C");
    }

    @Test
    void oneThatIsNotThereIsAProblem() {
        HttpResponse<String> answer = http.get(LETTERS + "/4");

        assertThat(answer.statusCode()).isEqualTo(404);
        assertThat(json(answer).get("detail").asText()).startsWith("no such dead letter: pipe=plant, number=4;");
        assertThat(http.get(LETTERS + "/x").statusCode()).isEqualTo(400);
    }

    @Test
    void aRedriveSaysWhatItDidAndWhetherThereIsMore() {
        HttpResponse<String> answer = http.post(LETTERS + "/redrive?reason=terminated&subscription=a", "");

        assertThat(answer.body()).isEqualTo("{\"redriven\":2,\"passed\":1,\"firstId\":7,\"lastId\":8,\"more\":true}");
        assertThat(plant.redriven()).containsExactly(new LetterSelection(List.of(), "terminated", "a"));
    }

    @Test
    void aRefusedRedriveIsAProblemWithItsCode() {
        plant.refuse(new RelayException(ErrorCode.NO_SUCH_SUBSCRIPTION, "dead letter cannot be redriven: gone"));

        HttpResponse<String> answer = http.post(LETTERS + "/redrive?all=true", "");

        assertThat(answer.statusCode()).isEqualTo(404);
        assertThat(json(answer).get("code").asText()).isEqualTo("NO_SUCH_SUBSCRIPTION");
    }

    @Test
    void lettersArePurgedByNumberOrBySelection() {
        assertThat(delete(LETTERS + "/3").body()).isEqualTo("{\"purged\":3,\"more\":false}");
        assertThat(delete(LETTERS + "?numbers=2,1,2").statusCode()).isEqualTo(200);
        assertThat(delete(LETTERS + "?all=true").statusCode()).isEqualTo(200);

        assertThat(plant.purged())
                .containsExactly(
                        new LetterSelection(List.of(3L), "", ""),
                        new LetterSelection(List.of(1L, 2L), "", ""),
                        LetterSelection.ALL);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "?all=false", "?all=true&reason=x", "?numbers=", "?numbers=1,x", "?numbers=0", "?reson=x"})
    void whatIsNotClearlySelectedIsNotTouched(String query) {
        assertThat(delete(LETTERS + query).statusCode()).isEqualTo(400);
        assertThat(http.post(LETTERS + "/redrive" + query, "").statusCode()).isEqualTo(400);

        assertThat(plant.purged()).isEmpty();
        assertThat(plant.redriven()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "POST, '', 'GET, HEAD, DELETE'",
        "PUT, /1, 'GET, HEAD, DELETE'",
        "GET, /redrive, POST",
    })
    void otherMethodsAreNotAllowed(String method, String path, String allowed) {
        HttpResponse<String> answer =
                http.send(HttpRequest.newBuilder(http.uri(LETTERS + path)).method(method, BodyPublishers.noBody()));

        assertThat(answer.statusCode()).isEqualTo(405);
        assertThat(answer.headers().firstValue("Allow")).hasValue(allowed);
    }

    private HttpResponse<String> delete(String path) {
        return http.send(HttpRequest.newBuilder(http.uri(path)).DELETE());
    }
}
