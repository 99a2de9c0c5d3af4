package io.tabletrelay.api;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * A failure with a stable code. The message reads: what could not be done: key=value, key=value; what was expected or
 * what to do.
 */
public class RelayException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final ErrorCode code;

    public RelayException(ErrorCode code, String message) {
        this(code, message, null);
    }

    public RelayException(ErrorCode code, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    public ErrorCode code() {
        return code;
    }

    /** The message; never null here, unlike in the parent. */
    public String reason() {
        return String.valueOf(getMessage());
    }
}
