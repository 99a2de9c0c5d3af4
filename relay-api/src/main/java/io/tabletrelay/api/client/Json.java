package io.tabletrelay.api.client;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A flat JSON object, read strictly: strings, whole numbers, true, false and null, no name twice, nothing behind it.
 *
 * <p>Threading: immutable.
 */
final class Json {
    private final Map<String, Object> members;

    private Json(Map<String, Object> members) {
        this.members = members;
    }

    /** Throws IllegalArgumentException, with the position, for anything else. */
    static Json parse(String text) {
        return new Json(new Reader(text).object());
    }

    static String write(Map<String, String> strings) {
        StringBuilder out = new StringBuilder("{");
        strings.forEach((name, value) -> {
            out.append(out.length() == 1 ? "\"" : ",\"");
            escape(name, out);
            out.append("\":\"");
            escape(value, out);
            out.append('"');
        });
        return out.append('}').toString();
    }

    private static void escape(String text, StringBuilder out) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ') {
                out.append("\\u%04x".formatted((int) c));
            } else {
                out.append(c);
            }
        }
    }

    Optional<String> string(String name) {
        return members.get(name) instanceof String value ? Optional.of(value) : Optional.empty();
    }

    /** The number of that name; without one: throws. */
    long number(String name) {
        if (members.get(name) instanceof Long value) {
            return value;
        }
        throw new IllegalArgumentException("no number of that name: name=" + name + ", names=" + members.keySet());
    }

    /** The number of that name, or what is to be if there is none. */
    long number(String name, long otherwise) {
        return members.containsKey(name) ? number(name) : otherwise;
    }

    /** All members, which must be strings. */
    Map<String, String> strings() {
        Map<String, String> strings = new LinkedHashMap<>();
        members.forEach((name, value) -> {
            if (!(value instanceof String string)) {
                throw new IllegalArgumentException("not a string: name=" + name);
            }
            strings.put(name, string);
        });
        return strings;
    }

    /**
     * Reads one object.
     *
     * <p>Threading: confined to its caller.
     */
    private static final class Reader {
        /** An object of its own stands for null, which no map of ours holds. */
        private static final Map<String, Object> WORDS = Map.of("true", true, "false", false, "null", new Object());

        private final String text;
        private int at;

        Reader(String text) {
            this.text = text;
        }

        Map<String, Object> object() {
            Map<String, Object> members = new LinkedHashMap<>();
            skipSpace();
            expect('{');
            skipSpace();
            if (peek() == '}') {
                at++;
            } else {
                do {
                    member(members);
                } while (take() == ',');
                at--;
                expect('}');
            }
            skipSpace();
            if (at < text.length()) {
                throw wrong("nothing");
            }
            return members;
        }

        private void member(Map<String, Object> members) {
            skipSpace();
            String name = string();
            skipSpace();
            expect(':');
            skipSpace();
            if (members.put(name, value()) != null) {
                throw new IllegalArgumentException("a name twice: name=" + name);
            }
            skipSpace();
        }

        private Object value() {
            char c = peek();
            if (c == '"') {
                return string();
            }
            if (c == '-' || (c >= '0' && c <= '9')) {
                return number();
            }
            for (Map.Entry<String, Object> word : WORDS.entrySet()) {
                if (text.startsWith(word.getKey(), at)) {
                    at += word.getKey().length();
                    return word.getValue();
                }
            }
            throw wrong("a string, a whole number, true, false or null");
        }

        private Long number() {
            int start = at;
            at += peek() == '-' ? 1 : 0;
            int digits = at;
            while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
                at++;
            }
            boolean zeroFirst = at - digits > 1 && text.charAt(digits) == '0';
            boolean more = at < text.length() && ".eE".indexOf(text.charAt(at)) >= 0;
            if (at == digits || zeroFirst || more) {
                throw wrong("a whole number");
            }
            try {
                return Long.valueOf(text.substring(start, at));
            } catch (NumberFormatException e) {
                throw new IllegalArgumentException("number out of range: position=" + start, e);
            }
        }

        private String string() {
            expect('"');
            StringBuilder out = new StringBuilder();
            while (true) {
                char c = take();
                if (c == '"') {
                    return out.toString();
                }
                if (c < ' ') {
                    at--;
                    throw wrong("an escape");
                }
                out.append(c == '\\' ? escaped() : c);
            }
        }

        private char escaped() {
            char c = take();
            return switch (c) {
                case '"', '\\', '/' -> c;
                case 'b' -> '\b';
                case 'f' -> '\f';
                case 'n' -> '\n';
                case 'r' -> '\r';
                case 't' -> '\t';
                case 'u' -> hex();
                default -> {
                    at--;
                    throw wrong("an escape");
                }
            };
        }

        private char hex() {
            int value = 0;
            for (int i = 0; i < 4; i++) {
                char c = take();
                int digit = c < 128 ? Character.digit(c, 16) : -1;
                if (digit < 0) {
                    at--;
                    throw wrong("four hexadecimal digits");
                }
                value = 16 * value + digit;
            }
            return (char) value;
        }

        private void skipSpace() {
            while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
                at++;
            }
        }

        private void expect(char c) {
            if (peek() != c) {
                throw wrong(String.valueOf(c));
            }
            at++;
        }

        private char take() {
            char c = peek();
            at++;
            return c;
        }

        private char peek() {
            if (at >= text.length()) {
                throw wrong("more");
            }
            return text.charAt(at);
        }

        private IllegalArgumentException wrong(String expected) {
            return new IllegalArgumentException("not a flat JSON object: position=" + at + ", expected=" + expected);
        }
    }
}
