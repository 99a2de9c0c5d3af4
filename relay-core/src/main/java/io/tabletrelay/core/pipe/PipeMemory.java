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
 * @param beginnings how often it was reset or deleted, by subscription
 */
record PipeMemory(
        PassedSequences passed,
        Map<String, LossStreak> losses,
        Map<String, ShownSubscription> shown,
        Map<String, Integer> beginnings) {
    PipeMemory() {
        this(new PassedSequences(), new HashMap<>(), new HashMap<>(), new HashMap<>());
    }

    /** Tells a subscription from one of its name that was reset or deleted before. */
    int beginningOf(String subscription) {
        return beginnings.getOrDefault(subscription, 0);
    }

    /** The subscription was reset or deleted: what was said to it before counts no more. */
    void begunAnew(String subscription) {
        beginnings.merge(subscription, 1, Integer::sum);
    }

    LossStreak lossesOf(String subscription) {
        return losses.computeIfAbsent(subscription, first -> new LossStreak());
    }
}
