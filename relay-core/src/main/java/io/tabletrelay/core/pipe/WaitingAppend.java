package io.tabletrelay.core.pipe;

import io.tabletrelay.api.Appended;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.core.config.PipeSettings;
import io.tabletrelay.core.store.EventGroup;
import org.jspecify.annotations.Nullable;

/**
 * One publish on its way into the log; without a group it stores nothing and only uses up its sequence.
 *
 * <p>Threading: immutable; answered once, by the pipe's transfer thread or an I/O task of it.
 *
 * @param sinceNanos when it came, as {@code System.nanoTime()}
 */
record WaitingAppend(
        @Nullable EventGroup group,
        @Nullable ProducerSequence sequence,
        PipeSettings madeFor,
        long sinceNanos,
        AppendListener listener) {
    void confirm(Appended appended) {
        listener.answered(appended, null);
    }

    void refuse(Throwable why) {
        listener.answered(null, why);
    }
}
