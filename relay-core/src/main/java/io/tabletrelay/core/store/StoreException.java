package io.tabletrelay.core.store;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** The store cannot do what it was asked; the code says whether trying again can help. */
public class StoreException extends RelayException {
    @Serial
    private static final long serialVersionUID = 1L;

    public StoreException(ErrorCode code, String message) {
        super(code, message);
    }

    public StoreException(ErrorCode code, String message, @Nullable Throwable cause) {
        super(code, message, cause);
    }
}
