package io.tabletrelay.core.protocol;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A pipe's name and the options behind it, as in {@code orders%2Feu?window=10&order=strict}: both sides of each option are
 * percent-encoded, and a plus sign stands for itself.
 *
 * <p>Threading: confined to the thread that reads the line.
 */
final class Options {
    private static final int MAX_VALUE_BYTES = 200;
    private static final int MAX_SHOWN_CHARS = 40;

    private final PipeName pipe;
    private final Map<String, String> values;

    private Options(PipeName pipe, Map<String, String> values) {
        this.pipe = pipe;
        this.values = values;
    }

    /** Throws BAD_OPTION for an option that is not one of those, or is there twice. */
    static Options read(String argument, List<String> allowed) throws ProtocolException {
        int mark = argument.indexOf('?');
        PipeName pipe = pipeName(decode(mark < 0 ? argument : argument.substring(0, mark)));
        Map<String, String> values = new LinkedHashMap<>();
        String query = mark < 0 ? "" : argument.substring(mark + 1);
        for (String pair : query.isEmpty() ? new String[0] : query.split("&", -1)) {
            int equals = pair.indexOf('=');
            String name = decode(equals < 0 ? pair : pair.substring(0, equals));
            if (!allowed.contains(name)) {
                throw badOption("no such option: name=" + shown(name) + ", allowed=" + allowed);
            }
            if (equals < 0) {
                throw badOption("option without a value: name=" + name);
            }
            if (values.put(name, decode(pair.substring(equals + 1))) != null) {
                throw badOption("option given twice: name=" + name);
            }
        }
        return new Options(pipe, values);
    }

    private static PipeName pipeName(String text) throws ProtocolException {
        try {
            return new PipeName(text);
        } catch (RelayException e) {
            throw new ProtocolException(e.reason());
        }
    }

    PipeName pipe() {
        return pipe;
    }

    @Nullable
    String value(String name) {
        return values.get(name);
    }

    long number(String name, long otherwise, long least, long most) throws ProtocolException {
        String value = values.get(name);
        if (value == null) {
            return otherwise;
        }
        long number = Digits.read(value, 0, value.length());
        if (number < least || number > most) {
            throw badValue(name, value, least + " to " + most);
        }
        return number;
    }

    /** Which of these the value is; {@code otherwise} if it is not given. */
    int choice(String name, int otherwise, List<String> words) throws ProtocolException {
        String value = values.get(name);
        if (value == null) {
            return otherwise;
        }
        int index = words.indexOf(value);
        if (index < 0) {
            throw badValue(name, value, words.toString());
        }
        return index;
    }

    /** Printable text of 1 to 200 bytes; null if it is not given. */
    @Nullable
    String word(String name) throws ProtocolException {
        String value = values.get(name);
        if (value != null) {
            boolean printable = value.codePoints()
                    .noneMatch(c -> Character.isISOControl(c) || Character.getType(c) == Character.SURROGATE);
            if (value.isBlank() || !printable || value.getBytes(StandardCharsets.UTF_8).length > MAX_VALUE_BYTES) {
                throw badValue(name, value, "1 to " + MAX_VALUE_BYTES + " bytes of printable text");
            }
        }
        return value;
    }

    static ProtocolException badValue(String name, String value, String allowed) {
        return badOption("no such value: name=" + name + ", value=" + shown(value) + ", allowed=" + allowed);
    }

    private static ProtocolException badOption(String message) {
        return new ProtocolException(ErrorCode.BAD_OPTION, message);
    }

    private static String shown(String text) {
        return text.length() <= MAX_SHOWN_CHARS ? text : text.substring(0, MAX_SHOWN_CHARS) + "…";
    }

    private static String decode(String text) throws ProtocolException {
        if (text.indexOf('%') < 0) {
            return text;
        }
        byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
        ByteBuffer decoded = ByteBuffer.allocate(encoded.length);
        for (int i = 0; i < encoded.length; i++) {
            if (encoded[i] != '%') {
                decoded.put(encoded[i]);
                continue;
            }
            int high = i + 2 < encoded.length ? Character.digit(encoded[i + 1], 16) : -1;
            int low = i + 2 < encoded.length ? Character.digit(encoded[i + 2], 16) : -1;
            if (high < 0 || low < 0) {
                throw new ProtocolException("a percent sign without two hex digits");
            }
            decoded.put((byte) (high << 4 | low));
            i += 2;
        }
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(decoded.flip()).toString();
        } catch (CharacterCodingException e) {
            throw new ProtocolException("percent-encoded bytes that are not UTF-8");
        }
    }
}
