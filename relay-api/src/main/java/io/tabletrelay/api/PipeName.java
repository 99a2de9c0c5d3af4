package io.tabletrelay.api;

import java.nio.charset.StandardCharsets;

/**
 * A pipe's name: any printable text of 1 to {@value #MAX_BYTES} UTF-8 bytes, compared exactly.
 *
 * <p>Threading: immutable.
 *
 * @param value the name as users write it; how it is spelled on disk is the store's business
 */
public record PipeName(String value) {
    /** The longest name, in UTF-8 bytes. */
    public static final int MAX_BYTES = 200;

    /** Throws {@link RelayException} with {@link ErrorCode#BAD_NAME} for an empty, too long or unprintable name. */
    public PipeName {
        int bytes = value.getBytes(StandardCharsets.UTF_8).length;
        if (value.isBlank()) {
            throw new RelayException(
                    ErrorCode.BAD_NAME, "pipe name is empty: give it 1 to 200 bytes of printable text");
        }
        if (bytes > MAX_BYTES) {
            throw new RelayException(
                    ErrorCode.BAD_NAME, "pipe name too long: utf8Bytes=" + bytes + ", limit=" + MAX_BYTES);
        }
        int unprintable =
                value.codePoints().filter(PipeName::isUnprintable).findFirst().orElse(-1);
        if (unprintable >= 0) {
            throw new RelayException(
                    ErrorCode.BAD_NAME,
                    "pipe name has an unprintable character: U+%04X; use printable text".formatted(unprintable));
        }
    }

    private static boolean isUnprintable(int codePoint) {
        return switch (Character.getType(codePoint)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.UNASSIGNED,
                    Character.PRIVATE_USE,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> true;
            default -> false;
        };
    }

    @Override
    public String toString() {
        return value;
    }
}
