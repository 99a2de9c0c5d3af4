package io.tabletrelay.core.protocol;

import io.tabletrelay.api.ErrorCode;
import java.io.Serial;

/** A line that says nothing the dialect knows. Costs no stack trace, since a client can cause as many as it likes. */
public final class ProtocolException extends Exception {
    @Serial
    private static final long serialVersionUID = 1L;

    private final ErrorCode code;

    ProtocolException(String message) {
        this(ErrorCode.BAD_LINE, message);
    }

    ProtocolException(ErrorCode code, String message) {
        super(message, null, false, false);
        this.code = code;
    }

    /** BAD_LINE or BAD_OPTION. */
    public ErrorCode code() {
        return code;
    }

    /** The message; never null here, unlike in the parent. */
    public String reason() {
        return String.valueOf(getMessage());
    }
}
