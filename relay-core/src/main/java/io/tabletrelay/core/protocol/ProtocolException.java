package io.tabletrelay.core.protocol;

import java.io.Serial;

/** A line that says nothing the dialect knows. Costs no stack trace, since a client can cause as many as it likes. */
public final class ProtocolException extends Exception {
    @Serial
    private static final long serialVersionUID = 1L;

    ProtocolException(String message) {
        super(message, null, false, false);
    }

    /** The message; never null here, unlike in the parent. */
    public String reason() {
        return String.valueOf(getMessage());
    }
}
