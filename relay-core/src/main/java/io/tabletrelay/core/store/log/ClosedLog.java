package io.tabletrelay.core.store.log;

import org.jspecify.annotations.Nullable;

/**
 * What a log knew when it was closed in order. Only the process that closed it can go on from that: a file says nothing of who
 * wrote to it last, or how it ended.
 *
 * <p>Threading: immutable, but for the producers, which belong to the log that goes on from it.
 *
 * @param recovered what an open would find, had it looked
 * @param end where the newest segment may be appended to, or null if the next append must start another
 */
record ClosedLog(RecoveredLog recovered, SegmentWriter.@Nullable End end) {}
