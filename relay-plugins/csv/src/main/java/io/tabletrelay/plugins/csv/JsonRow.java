package io.tabletrelay.plugins.csv;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import org.jspecify.annotations.Nullable;

/**
 * Builds one JSON object, member after member.
 *
 * <p>Threading: confined to the thread that serializes.
 */
final class JsonRow {
    private final StringBuilder json = new StringBuilder("{");

    /** Not a number, which JSON cannot say, becomes null. */
    void add(String name, @Nullable Object value) {
        if (json.length() > 1) {
            json.append(',');
        }
        text(name);
        json.append(':');
        if (value instanceof String || value instanceof LocalDate) {
            text(value.toString());
        } else if (value instanceof Number number && Double.isNaN(number.doubleValue())) {
            json.append("null");
        } else {
            json.append(value);
        }
    }

    ByteBuffer bytes() {
        return ByteBuffer.wrap((json + "}").getBytes(StandardCharsets.UTF_8));
    }

    private void text(String text) {
        json.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (c < ' ') {
                json.append("\\u%04x".formatted((int) c));
            } else {
                json.append(c);
            }
        }
        json.append('"');
    }
}
