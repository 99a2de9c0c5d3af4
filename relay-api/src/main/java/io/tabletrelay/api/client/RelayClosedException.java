package io.tabletrelay.api.client;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;
import java.io.Serial;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The end of a client that connecting again would not help: what the relay said last. */
public final class RelayClosedException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final int closeCode;
    private final String reason;
    private final @Nullable ErrorCode errorCode;

    RelayClosedException(int closeCode, String reason, @Nullable RelayException refusal) {
        super(message(closeCode, reason, refusal), refusal);
        this.closeCode = closeCode;
        this.reason = reason;
        this.errorCode = refusal == null ? null : refusal.code();
    }

    private static String message(int closeCode, String reason, @Nullable RelayException refusal) {
        return "connection ended for good: closeCode=" + closeCode + ", reason=" + reason
                + (refusal == null ? "" : ", error=" + refusal.code() + ", message=" + refusal.reason());
    }

    /** The WebSocket close code; 1006 if there was none. */
    public int closeCode() {
        return closeCode;
    }

    /** The text that came with the close code. */
    public String reason() {
        return reason;
    }

    /** What an ERROR line on the same connection said before, if there was one. */
    public Optional<ErrorCode> errorCode() {
        return Optional.ofNullable(errorCode);
    }
}
