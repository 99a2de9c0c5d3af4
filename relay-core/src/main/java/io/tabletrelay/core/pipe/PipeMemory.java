package io.tabletrelay.core.pipe;

import io.tabletrelay.core.delivery.LossStreak;
import java.util.HashMap;
import java.util.Map;

/**
 * What of a pipe stands in no file, and is not forgotten while its files are closed.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 *
 * @param passed sequences that stored nothing
 * @param losses connections that were lost in a row, by subscription
 * @param shown what the gauges show, by subscription
 */
record PipeMemory(PassedSequences passed, Map<String, LossStreak> losses, Map<String, ShownSubscription> shown) {
    PipeMemory() {
        this(new PassedSequences(), new HashMap<>(), new HashMap<>());
    }

    LossStreak lossesOf(String subscription) {
        return losses.computeIfAbsent(subscription, first -> new LossStreak());
    }
}
