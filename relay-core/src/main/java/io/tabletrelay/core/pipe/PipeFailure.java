package io.tabletrelay.core.pipe;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import java.io.Serial;

/** Ends a pipe's work until it is opened again. */
final class PipeFailure extends RelayException {
    @Serial
    private static final long serialVersionUID = 1L;

    private PipeFailure(ErrorCode code, String message, Throwable cause) {
        super(code, message, cause);
    }

    /** Wraps what was thrown, unless it is such a failure already. */
    static PipeFailure of(PipeName pipe, String what, Throwable cause) {
        return cause instanceof PipeFailure failure
                ? failure
                : new PipeFailure(
                        code(cause), "pipe failed: pipe=" + pipe + ", " + what + ": " + describe(cause), cause);
    }

    /** A full disk keeps its name: what helps is another thing. */
    private static ErrorCode code(Throwable cause) {
        return cause instanceof RelayException known && known.code() == ErrorCode.STORAGE_FULL
                ? ErrorCode.STORAGE_FULL
                : ErrorCode.PIPE_FAILED;
    }

    private static String describe(Throwable cause) {
        return cause instanceof RelayException known ? known.reason() : cause.toString();
    }
}
