package io.tabletrelay.core.http;

import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.delivery.BindOptions.Start;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.format.DateTimeParseException;

/** The body of a request that begins a subscription: {@code {"start":"earliest"}}; none at all means the same. */
final class StartBody {
    private static final String START = "start";
    private static final ObjectMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();

    private StartBody() {}

    /** Throws {@link RelayException} with BAD_REQUEST for any other body. */
    static Start start(ByteBuffer body) {
        if (!body.hasRemaining()) {
            return new Start.Earliest();
        }
        try {
            JsonNode root = JSON.readTree(body.array(), body.arrayOffset() + body.position(), body.remaining());
            JsonNode start = root.path(START);
            if (root.isObject() && root.isEmpty()) {
                return new Start.Earliest();
            }
            if (root.size() != 1 || !(start.isTextual() || start.isIntegralNumber())) {
                throw notUnderstood("not an object with start alone");
            }
            return start(start.asText());
        } catch (IOException e) {
            throw notUnderstood("not json");
        }
    }

    private static Start start(String text) {
        if (text.equals("earliest")) {
            return new Start.Earliest();
        }
        if (text.equals("latest")) {
            return new Start.Latest();
        }
        if (text.matches("\\d{1,18}")) {
            return new Start.AtId(Long.parseLong(text));
        }
        try {
            return new Start.AtTime(Instant.parse(text));
        } catch (DateTimeParseException e) {
            throw notUnderstood("start=" + text);
        }
    }

    private static RelayException notUnderstood(String problem) {
        return Target.badRequest("subscription not begun, its start is not understood: problem=" + problem
                + "; send {\"start\":\"earliest\"}, latest, an event's id or a time like 2026-01-31T12:00:00Z");
    }
}
