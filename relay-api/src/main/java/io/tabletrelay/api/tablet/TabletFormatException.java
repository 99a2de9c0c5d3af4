package io.tabletrelay.api.tablet;

import java.io.Serial;

/** Bytes that are not one whole tablet. Says where: the offset counts from 0, at the first byte that is wrong or missing. */
public final class TabletFormatException extends Exception {
    @Serial
    private static final long serialVersionUID = 1L;

    private final long byteOffset;
    private final String problem;

    TabletFormatException(long byteOffset, String problem) {
        super("byte " + byteOffset + ": " + problem);
        this.byteOffset = byteOffset;
        this.problem = problem;
    }

    public long byteOffset() {
        return byteOffset;
    }

    /** The message without the position. */
    public String problem() {
        return problem;
    }
}
