package io.tabletrelay.core.store.log;

import io.tabletrelay.core.config.StoreConfig;

/**
 * The sizes of one log, worked out from its settings.
 *
 * <p>Threading: immutable.
 *
 * @param pipe the log's name in messages
 */
record LogLimits(String pipe, StoreConfig config) {
    private static final int CHRONICLE_WORD_BYTES = 64;
    private static final long BLOCK_STEP_BYTES = 1 << 20;

    /** The largest record: an event, or a segment header that remembers as many producers as it may. */
    int maxRecordBytes() {
        return Math.max(config.maxEventBytes() + RecordFormat.MAX_ENVELOPE_BYTES, SegmentHeader.MAX_BYTES);
    }

    /** Chronicle takes messages up to a quarter of a block. */
    long blockBytes() {
        long bytes = 4L * (maxRecordBytes() + CHRONICLE_WORD_BYTES);
        return (bytes + BLOCK_STEP_BYTES - 1) / BLOCK_STEP_BYTES * BLOCK_STEP_BYTES;
    }
}
