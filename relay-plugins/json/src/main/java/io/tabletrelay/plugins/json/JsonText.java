package io.tabletrelay.plugins.json;

import io.tabletrelay.api.serializer.BadEventException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;

/**
 * The source's UTF-8 text as bytes, which knows where its lines are.
 *
 * <p>Threading: immutable, provided nobody writes to the slices.
 */
final class JsonText {
    private static final int DECODED_AT_ONCE = 4096;

    private final byte[] bytes;
    private final int start;

    private JsonText(byte[] bytes) {
        this.bytes = bytes;
        boolean mark =
                bytes.length >= 3 && bytes[0] == (byte) 0xEF && bytes[1] == (byte) 0xBB && bytes[2] == (byte) 0xBF;
        this.start = mark ? 3 : 0;
    }

    /** Copies the text, so that payloads can be slices of it; refuses what is not UTF-8. */
    static JsonText of(ByteBuffer source) throws BadEventException {
        byte[] bytes = new byte[source.remaining()];
        source.duplicate().get(bytes);
        JsonText text = new JsonText(bytes);
        ByteBuffer undecoded = ByteBuffer.wrap(bytes);
        CharBuffer decoded = CharBuffer.allocate(DECODED_AT_ONCE);
        CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
        CoderResult result = CoderResult.OVERFLOW;
        while (result.isOverflow()) {
            result = decoder.decode(undecoded, decoded.clear(), true);
        }
        if (result.isError()) {
            throw text.problem(undecoded.position(), "not UTF-8: byteOffset=" + undecoded.position());
        }
        return text;
    }

    /** The bytes, to be read only. */
    byte[] bytes() {
        return bytes;
    }

    /** The offset behind a byte order mark. */
    int start() {
        return start;
    }

    int end() {
        return bytes.length;
    }

    ByteBuffer slice(int from, int to) {
        return ByteBuffer.wrap(bytes, from, to - from).slice();
    }

    /** Returns the first offset at or after from that is not white space, or to. */
    int skipBlank(int from, int to) {
        int offset = from;
        while (offset < to && isBlank(bytes[offset])) {
            offset++;
        }
        return offset;
    }

    /** Returns the offset behind the last byte before to that is not white space, or from. */
    int trimBlank(int from, int to) {
        int offset = to;
        while (offset > from && isBlank(bytes[offset - 1])) {
            offset--;
        }
        return offset;
    }

    /** Returns the offset of the next line feed, or the text's end. */
    int lineEnd(int from) {
        int offset = from;
        while (offset < bytes.length && bytes[offset] != '\n') {
            offset++;
        }
        return offset;
    }

    /** Lines end with CR, LF or both; columns count characters, not bytes. */
    BadEventException problem(int offset, String problem) {
        long line = 1;
        long column = 1;
        for (int i = start; i < offset; i++) {
            byte b = bytes[i];
            if (b == '\n' || (b == '\r' && (i + 1 == bytes.length || bytes[i + 1] != '\n'))) {
                line++;
                column = 1;
            } else if ((b & 0xC0) != 0x80) {
                column++;
            }
        }
        return BadEventException.atLine(line, column, problem);
    }

    private static boolean isBlank(byte b) {
        return b == ' ' || b == '\t' || b == '\n' || b == '\r';
    }
}
