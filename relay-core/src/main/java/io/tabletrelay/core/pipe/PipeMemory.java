package io.tabletrelay.core.pipe;

import io.tabletrelay.core.delivery.LossStreak;

/**
 * What of a pipe stands in no file, and is not forgotten while its files are closed.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 *
 * @param passed sequences that stored nothing
 * @param losses connections that were lost in a row
 */
record PipeMemory(PassedSequences passed, LossStreak losses) {
    PipeMemory() {
        this(new PassedSequences(), new LossStreak());
    }
}
