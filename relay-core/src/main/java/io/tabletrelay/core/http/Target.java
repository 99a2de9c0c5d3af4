package io.tabletrelay.core.http;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.jetty.http.HttpURI;
import org.jspecify.annotations.Nullable;

/**
 * What a request is about: the decoded segments of its path and the options of its query.
 *
 * <p>Threading: immutable.
 */
record Target(List<String> segments, Map<String, String> options) {
    private static final int HEX = 16;

    /** Throws {@link RelayException} with BAD_REQUEST for an encoding that is not UTF-8, or an option given twice. */
    static Target of(HttpURI uri) {
        String path = String.valueOf(uri.getPath());
        List<String> segments = new ArrayList<>();
        for (String segment : path.substring(Math.min(1, path.length())).split("/", -1)) {
            segments.add(decode(segment, false));
        }
        return new Target(List.copyOf(segments), options(uri.getQuery()));
    }

    /** The option as a number, or the default. */
    long number(String option, long defaultValue, long least, long most) {
        String text = options.get(option);
        return text == null ? defaultValue : number(option, text, least, most);
    }

    /** Throws {@link RelayException} with BAD_REQUEST unless the text is a number in the range. */
    static long number(String what, String text, long least, long most) {
        try {
            long number = Long.parseLong(text);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // answered below, as a number out of range is
        }
        throw badRequest(
                what + " is not a number that fits: " + what + "=" + text + "; give one from " + least + " to " + most);
    }

    static RelayException badRequest(String message) {
        return new RelayException(ErrorCode.BAD_REQUEST, message);
    }

    private static Map<String, String> options(@Nullable String query) {
        Map<String, String> options = new LinkedHashMap<>();
        if (query == null) {
            return options;
        }
        for (String pair : query.split("&", -1)) {
            int equals = pair.indexOf('=');
            String name = decode(equals < 0 ? pair : pair.substring(0, equals), true);
            String value = equals < 0 ? "" : decode(pair.substring(equals + 1), true);
            if (!name.isEmpty() && options.put(name, value) != null) {
                throw badRequest("option given twice: option=" + name);
            }
        }
        return options;
    }

    private static String decode(String text, boolean plusIsSpace) {
        byte[] given = text.getBytes(StandardCharsets.UTF_8);
        ByteBuffer decoded = ByteBuffer.allocate(given.length);
        for (int i = 0; i < given.length; i++) {
            if (given[i] == '%') {
                int high = i + 2 < given.length ? Character.digit(given[i + 1], HEX) : -1;
                int low = i + 2 < given.length ? Character.digit(given[i + 2], HEX) : -1;
                if (high < 0 || low < 0) {
                    throw badRequest("address is not percent-encoded correctly: part=" + text);
                }
                decoded.put((byte) (high * HEX + low));
                i += 2;
            } else {
                decoded.put(plusIsSpace && given[i] == '+' ? (byte) ' ' : given[i]);
            }
        }
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(decoded.flip()).toString();
        } catch (CharacterCodingException e) {
            throw badRequest("address is not utf-8: part=" + text);
        }
    }
}
