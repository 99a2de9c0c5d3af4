package io.tabletrelay.core;

import java.io.Serial;

/** Ends a command with an exit code and one line for its user. */
final class CommandException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final int exitCode;

    CommandException(int exitCode, String message) {
        super(message);
        this.exitCode = exitCode;
    }

    int exitCode() {
        return exitCode;
    }
}
