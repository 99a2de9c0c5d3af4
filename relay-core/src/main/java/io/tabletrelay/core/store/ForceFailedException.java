package io.tabletrelay.core.store;

import io.tabletrelay.api.ErrorCode;
import java.io.IOException;
import java.io.Serial;
import java.nio.file.Path;

/** Something could not be forced to disk: what was not forced before does not count as durable, and may never do. */
public final class ForceFailedException extends StoreException {
    @Serial
    private static final long serialVersionUID = 1L;

    private ForceFailedException(ErrorCode code, String message, IOException cause) {
        super(code, message, cause);
    }

    /** A full disk keeps its code: what helps is another thing. */
    public static ForceFailedException of(String what, Path file, IOException cause) {
        StoreException failure = SmallFile.failure(what, file, cause);
        return new ForceFailedException(failure.code(), failure.reason(), cause);
    }
}
