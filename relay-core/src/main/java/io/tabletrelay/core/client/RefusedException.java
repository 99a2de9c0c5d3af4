package io.tabletrelay.core.client;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;
import java.io.Serial;

/** The relay answered that it will not do what it was asked, and where in the request's body the fault is, if it said. */
public final class RefusedException extends RelayException {
    @Serial
    private static final long serialVersionUID = 1L;

    /** The answer named no line. */
    public static final long NO_LINE = 0;

    private final long line;
    private final long column;

    RefusedException(ErrorCode code, String message, long line, long column) {
        super(code, message);
        this.line = line;
        this.column = column;
    }

    /** Line of the body, from 1, or {@link #NO_LINE}. */
    public long line() {
        return line;
    }

    /** Column in that line, from 1. */
    public long column() {
        return column;
    }

    public boolean retryable() {
        return code().kind() == ErrorCode.Kind.RETRYABLE;
    }
}
