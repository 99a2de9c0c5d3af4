package io.tabletrelay.core.plugin;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.api.serializer.BadEventException;
import java.io.Serial;

/** An event that its serializer refused or broke on; the positions are {@link BadEventException#UNKNOWN} when not known. */
public final class EventRefusedException extends RelayException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final long line;
    private final long column;
    private final long byteOffset;

    EventRefusedException(String message, BadEventException cause) {
        super(ErrorCode.BAD_EVENT, message, cause);
        this.line = cause.line();
        this.column = cause.column();
        this.byteOffset = cause.byteOffset();
    }

    EventRefusedException(String message, Throwable cause) {
        super(ErrorCode.BAD_EVENT, message, cause);
        this.line = BadEventException.UNKNOWN;
        this.column = BadEventException.UNKNOWN;
        this.byteOffset = BadEventException.UNKNOWN;
    }

    public long line() {
        return line;
    }

    public long column() {
        return column;
    }

    public long byteOffset() {
        return byteOffset;
    }
}
