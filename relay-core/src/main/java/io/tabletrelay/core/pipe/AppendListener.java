package io.tabletrelay.core.pipe;

import io.tabletrelay.api.Appended;
import io.tabletrelay.api.RelayException;
import org.jspecify.annotations.Nullable;

/** Told once what became of an append, on the transfer thread, on an I/O thread or at once: must not block and not throw. */
@FunctionalInterface
public interface AppendListener {
    /**
     * The append is confirmed or refused.
     *
     * @param appended the ids, durable at the pipe's level; null if it was refused
     * @param refusal why it was, a RelayException if the relay knows; null if it was not
     */
    void answered(@Nullable Appended appended, @Nullable Throwable refusal);

    /** Asked on the transfer thread just before the append: why it must not be done any more; null if it may. */
    default @Nullable RelayException objection() {
        return null;
    }
}
