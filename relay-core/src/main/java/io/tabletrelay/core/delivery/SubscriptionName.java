package io.tabletrelay.core.delivery;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;

/** What a subscription may be called: what a pipe may be. */
public final class SubscriptionName {
    private SubscriptionName() {}

    /** Throws {@link RelayException} with {@link ErrorCode#BAD_NAME} for an empty, too long or unprintable name. */
    public static void check(String name) {
        try {
            new PipeName(name);
        } catch (RelayException e) {
            throw new RelayException(ErrorCode.BAD_NAME, e.reason().replace("pipe name", "subscription name"));
        }
    }
}
