package io.tabletrelay.core.http;

import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.PipeSettings;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;

/** The body of a request that makes a pipe: {@code {"settings":{"name":"value"}}}. */
final class SettingsBody {
    private static final String SETTINGS = "settings";
    private static final ObjectMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();

    private SettingsBody() {}

    /** Throws {@link RelayException} with BAD_REQUEST for any other body, and for settings that there are not. */
    static PipeSettings settings(ByteBuffer body) {
        JsonNode settings = parsed(body).path(SETTINGS);
        Map<String, String> values = new HashMap<>();
        for (Map.Entry<String, JsonNode> member : settings.properties()) {
            if (!member.getValue().isTextual()) {
                throw notUnderstood("value of " + member.getKey() + " is no text");
            }
            values.put(member.getKey(), member.getValue().textValue());
        }
        return new PipeSettings(values);
    }

    private static JsonNode parsed(ByteBuffer body) {
        try {
            JsonNode root = JSON.readTree(body.array(), body.arrayOffset() + body.position(), body.remaining());
            if (root.size() != 1 || !root.path(SETTINGS).isObject()) {
                throw notUnderstood("not an object with settings alone");
            }
            return root;
        } catch (IOException e) {
            throw notUnderstood("not json");
        }
    }

    private static RelayException notUnderstood(String problem) {
        return Target.badRequest("pipe not made, its settings are not understood: problem=" + problem
                + "; send {\"settings\":{}} or one" + " with settings in it");
    }
}
