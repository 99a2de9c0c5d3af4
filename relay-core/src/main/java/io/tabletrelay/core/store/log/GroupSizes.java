package io.tabletrelay.core.store.log;

import io.tabletrelay.api.Payload;
import io.tabletrelay.core.store.EventGroup;
import org.jspecify.annotations.Nullable;

/**
 * How large the records of a group will be, worked out once for all the questions that are asked about it.
 *
 * <p>Threading: as the log's appends: by one thread at a time.
 */
final class GroupSizes {
    private final int maxEventBytes;
    private @Nullable EventGroup group;
    private long recordBytes;
    private int largestRecordBytes;
    private @Nullable String problem;

    GroupSizes(int maxEventBytes) {
        this.maxEventBytes = maxEventBytes;
    }

    /** Returns itself, for that group. */
    @SuppressWarnings("ReferenceEquality") // only the same group is known to have the same sizes at no cost
    GroupSizes of(EventGroup asked) {
        if (asked != group) {
            measure(asked);
            group = asked;
        }
        return this;
    }

    /** The group is done with, and must not be kept in memory for this. */
    void forget() {
        group = null;
    }

    /** All records together. */
    long recordBytes() {
        return recordBytes;
    }

    int largestRecordBytes() {
        return largestRecordBytes;
    }

    /** Why no record can have one of the events, with the size and the limit; null if each can. */
    @Nullable
    String problem() {
        return problem;
    }

    private void measure(EventGroup asked) {
        recordBytes = 0;
        largestRecordBytes = 0;
        problem = null;
        for (int i = 0; i < asked.size(); i++) {
            Payload payload = asked.payloads().get(i);
            int bytes = RecordFormat.eventBytes(payload, asked.sequence());
            recordBytes += bytes;
            largestRecordBytes = Math.max(largestRecordBytes, bytes);
            if (problem == null) {
                problem = problemOf(payload);
            }
        }
    }

    private @Nullable String problemOf(Payload payload) {
        return payload.size() > maxEventBytes
                ? "payloadBytes=" + payload.size() + ", limit=" + maxEventBytes
                : RecordFormat.envelopeProblem(payload);
    }
}
