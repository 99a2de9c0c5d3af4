package io.tabletrelay.core.protocol;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** An event's headers on the wire: {@code [uint32 length][UTF-8 JSON object of texts]}. */
final class HeaderBlock {
    /** Most bytes of the JSON. */
    static final int MAX_BYTES = 64 * 1024;

    private static final ObjectMapper JSON = new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
    private static final TypeReference<Map<String, JsonNode>> OBJECT = new TypeReference<>() {};

    private HeaderBlock() {}

    static byte[] encode(Map<String, String> headers) {
        try {
            return JSON.writeValueAsString(headers).getBytes(StandardCharsets.UTF_8);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("headers cannot be written as JSON", e);
        }
    }

    static Map<String, String> decode(byte[] bytes, int from, int length) throws ProtocolException {
        Map<String, String> headers = new LinkedHashMap<>();
        Map<String, JsonNode> nodes;
        try {
            nodes = JSON.readValue(bytes, from, length, OBJECT);
        } catch (IOException e) {
            throw new ProtocolException("headers that are not a JSON object");
        }
        if (nodes == null) {
            throw new ProtocolException("headers that are not a JSON object");
        }
        for (Map.Entry<String, JsonNode> node : nodes.entrySet()) {
            if (node.getValue() == null || !node.getValue().isTextual()) {
                throw new ProtocolException("a header that is not a text");
            }
            headers.put(node.getKey(), node.getValue().textValue());
        }
        return headers;
    }
}
