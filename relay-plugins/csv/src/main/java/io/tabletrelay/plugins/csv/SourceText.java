package io.tabletrelay.plugins.csv;

import io.tabletrelay.api.serializer.BadEventException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.StandardCharsets;

/**
 * The source's text, which knows where its lines are.
 *
 * <p>Threading: immutable.
 *
 * @param value without a byte order mark
 */
record SourceText(String value) {
    private static final char BYTE_ORDER_MARK = '\uFEFF';

    static SourceText decode(ByteBuffer utf8) throws BadEventException {
        ByteBuffer bytes = utf8.duplicate();
        CharBuffer chars = CharBuffer.allocate(bytes.remaining());
        CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
        boolean wrong = decoder.decode(bytes, chars, true).isError();
        chars.flip();
        if (chars.hasRemaining() && chars.charAt(0) == BYTE_ORDER_MARK) {
            chars.get();
        }
        SourceText text = new SourceText(chars.toString());
        if (wrong) {
            throw text.problem(text.value.length(), "not UTF-8: byteOffset=" + (bytes.position() - utf8.position()));
        }
        return text;
    }

    /** Lines end with CR, LF or both; columns count characters, a character outside the BMP once. */
    BadEventException problem(int offset, String problem) {
        long line = 1;
        int lineStart = 0;
        for (int i = 0; i < offset; i++) {
            char c = value.charAt(i);
            if (c == '\n' || (c == '\r' && (i + 1 == value.length() || value.charAt(i + 1) != '\n'))) {
                line++;
                lineStart = i + 1;
            }
        }
        return BadEventException.atLine(line, 1L + value.codePointCount(lineStart, offset), problem);
    }
}
