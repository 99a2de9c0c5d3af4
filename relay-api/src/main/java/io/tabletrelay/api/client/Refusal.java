package io.tabletrelay.api.client;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;

/** What an ERROR or REJECTED line says. */
final class Refusal {
    private Refusal() {}

    /** A code that this client does not know yet counts as {@link ErrorCode#INTERNAL}; the message names it. */
    static RelayException parse(String json) {
        Json refusal = Json.parse(json);
        String code = refusal.string("code").orElse("none");
        String message = refusal.string("message").orElse("");
        for (ErrorCode known : ErrorCode.values()) {
            if (known.name().equals(code)) {
                return new RelayException(known, message);
            }
        }
        return new RelayException(ErrorCode.INTERNAL, "unknown code: code=" + code + ", message=" + message);
    }
}
