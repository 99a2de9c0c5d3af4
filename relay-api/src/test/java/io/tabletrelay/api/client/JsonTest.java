package io.tabletrelay.api.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTest {
    @Test
    void membersAreReadWithAllTheirEscapes() {
        Json json = Json.parse(
                " { \"a\" : \"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e4\\ud83d\\ude00\" , \"b\":-12,\"c\":true,\"d\":null} ");

        assertThat(json.string("a")).contains("\"\\/\b\f\n\r\tä😀");
        assertThat(json.number("b")).isEqualTo(-12);
        assertThat(json.string("b")).isEmpty();
        assertThatThrownBy(() -> json.number("z")).hasMessageContaining("name=z");
    }

    @Test
    void whatIsWrittenIsReadTheSame() {
        Map<String, String> strings = Map.of("a\"\\", "\u0001\n\"\\ü😀", "", "");

        assertThat(Json.parse(Json.write(strings)).strings()).isEqualTo(strings);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{",
                "[]",
                "{}x",
                "{\"a\"}",
                "{\"a\":}",
                "{\"a\":1,}",
                "{,}",
                "{\"a\":01}",
                "{\"a\":1.5}",
                "{\"a\":1e3}",
                "{\"a\":-}",
                "{\"a\":[]}",
                "{\"a\":{}}",
                "{\"a\":tru}",
                "{\"a\":1,\"a\":2}",
                "{'a':1}",
                "{\"a\":\"\n\"}",
                "{\"a\":\"\\x\"}",
                "{\"a\":\"\\u12g4\"}",
                "{\"a\":\"",
                "{\"a\":9223372036854775808}",
                "{\"a\":1 \"b\":2}"
            })
    void anythingElseIsRefused(String text) {
        assertThatThrownBy(() -> Json.parse(text)).isInstanceOf(IllegalArgumentException.class);
    }
}
