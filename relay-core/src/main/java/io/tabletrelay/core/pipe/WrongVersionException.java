package io.tabletrelay.core.pipe;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import java.io.Serial;

/** The pipe's state is of another version than the one who wants it changed has seen. */
public final class WrongVersionException extends RelayException {
    @Serial
    private static final long serialVersionUID = 1L;

    WrongVersionException(PipeName pipe, long version, long expected) {
        super(
                ErrorCode.WRONG_STATE,
                "pipe's state has changed since: pipe=" + pipe + ", version=" + version + ", expected version="
                        + expected + "; look at it again");
    }
}
