package io.tabletrelay.core.protocol;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tabletrelay.api.ErrorCode;
import java.util.Map;

/** Dialect 2's lines from the server. */
public final class ServerLines {
    public static final String UNBOUND = "UNBOUND";
    public static final String END = "END";
    public static final String FINISHED = "FINISHED";

    private static final ObjectMapper JSON = new ObjectMapper();

    private ServerLines() {}

    /** What a READY says is a number, a text or a switch each. */
    public static String ready(Map<String, Object> answer) {
        return "READY:" + json(answer);
    }

    public static String error(ErrorCode code, String message) {
        return "ERROR:" + json(refusal(code, message));
    }

    public static String stored(long sequence) {
        return "STORED:" + sequence;
    }

    public static String rejected(long sequence, ErrorCode code, String message) {
        return "REJECTED:" + sequence + ":" + json(refusal(code, message));
    }

    /** The list as an ack has it, e.g. {@code 3,5-9}. */
    public static String acked(long[] firstIds, long[] lastIds) {
        StringBuilder line = new StringBuilder("ACKED:");
        for (int i = 0; i < firstIds.length; i++) {
            if (i > 0) {
                line.append(',');
            }
            line.append(firstIds[i]);
            if (lastIds[i] != firstIds[i]) {
                line.append('-').append(lastIds[i]);
            }
        }
        return line.toString();
    }

    private static ObjectNode refusal(ErrorCode code, String message) {
        return JSON.createObjectNode().put("code", code.name()).put("message", message);
    }

    static String json(Object value) {
        try {
            return JSON.writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("cannot be written as JSON: type=" + value.getClass(), e);
        }
    }
}
