package io.tabletrelay.core.pipe;

import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.delivery.BindOptions.Start;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What is asked for to be done with a subscription.
 *
 * <p>Threading: immutable.
 *
 * @param start where it begins; null: it is deleted
 * @param then gets the subscription, the one that was there if it is created twice; null when it is deleted
 * @param whenNot is told why nothing was done
 */
record SubscriptionChange(
        Kind kind,
        String name,
        @Nullable Start start,
        Consumer<@Nullable OpenSubscription> then,
        Consumer<RelayException> whenNot) {
    enum Kind {
        CREATE,
        RESET,
        DELETE
    }
}
