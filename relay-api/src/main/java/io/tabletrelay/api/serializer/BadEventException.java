package io.tabletrelay.api.serializer;

import java.io.Serial;

/** The source's bytes are not a valid event. Says where: by line and column, or by byte offset. */
public final class BadEventException extends Exception {
    @Serial
    private static final long serialVersionUID = 1L;

    /** No such position is known. */
    public static final long UNKNOWN = -1;

    private final long line;
    private final long column;
    private final long byteOffset;

    private BadEventException(String message, long line, long column, long byteOffset) {
        super(message);
        this.line = line;
        this.column = column;
        this.byteOffset = byteOffset;
    }

    /** For text: line and column count from 1. */
    public static BadEventException atLine(long line, long column, String problem) {
        return new BadEventException("line " + line + ", column " + column + ": " + problem, line, column, UNKNOWN);
    }

    /** For binary input: the offset counts from 0, at the first byte that is wrong or missing. */
    public static BadEventException atByte(long byteOffset, String problem) {
        return new BadEventException("byte " + byteOffset + ": " + problem, UNKNOWN, UNKNOWN, byteOffset);
    }

    /** For what lies in no particular place of the bytes, such as an option that does not make sense. */
    public static BadEventException withoutPosition(String problem) {
        return new BadEventException(problem, UNKNOWN, UNKNOWN, UNKNOWN);
    }

    public long line() {
        return line;
    }

    public long column() {
        return column;
    }

    public long byteOffset() {
        return byteOffset;
    }
}
