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

    /** The answer named no sequence. */
    public static final long NO_SEQUENCE = -1;

    private final long line;
    private final long column;
    private final long lastSequence;

    RefusedException(ErrorCode code, String message, long line, long column, long lastSequence) {
        super(code, message);
        this.line = line;
        this.column = column;
        this.lastSequence = lastSequence;
    }

    /** Line of the body, from 1, or {@link #NO_LINE}. */
    public long line() {
        return line;
    }

    /** Column in that line, from 1. */
    public long column() {
        return column;
    }

    /** For a publish out of sequence: the last one that the relay counts, or {@link #NO_SEQUENCE}. */
    public long lastSequence() {
        return lastSequence;
    }

    public boolean retryable() {
        return code().kind() == ErrorCode.Kind.RETRYABLE;
    }
}
