package io.tabletrelay.core.store;

import io.tabletrelay.api.Payload;
import io.tabletrelay.api.ProducerSequence;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The events of one publish: all are appended or none, with ids in a row.
 *
 * <p>Threading: immutable.
 *
 * @param payloads at least one
 * @param sequence which publish of which producer this is, if it said
 * @param appendedAtMillis when it was taken, ms since the epoch
 */
public record EventGroup(List<Payload> payloads, @Nullable ProducerSequence sequence, long appendedAtMillis) {
    public EventGroup {
        if (payloads.isEmpty()) {
            throw new IllegalArgumentException("a group has at least one event");
        }
        payloads = List.copyOf(payloads);
    }

    public int size() {
        return payloads.size();
    }
}
