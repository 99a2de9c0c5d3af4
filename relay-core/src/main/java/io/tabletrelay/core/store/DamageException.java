package io.tabletrelay.core.store;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;
import java.io.Serial;
import java.util.function.BooleanSupplier;

/** Events that should be there cannot be read, and their pipe does not go on without them. */
public final class DamageException extends RelayException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final transient BooleanSupplier stillLost;

    public DamageException(String message, BooleanSupplier stillLost) {
        super(ErrorCode.PIPE_FAILED, message);
        this.stillLost = stillLost;
    }

    /** Looks for the first of the events once more. I/O thread. */
    public boolean isStillTrue() {
        return stillLost.getAsBoolean();
    }
}
