package io.tabletrelay.core.delivery;

import io.tabletrelay.api.Durability;

/**
 * What a consumer is told when its subscription is bound.
 *
 * <p>Threading: immutable.
 *
 * @param epoch tells one pipe of this name from an earlier one
 * @param nextId lowest id that is not settled
 * @param backlogEvents events that are not settled
 * @param contentType of the next event; empty while there is none
 * @param windowEvents most events in flight
 */
public record Bound(
        String pipe,
        String subscription,
        long epoch,
        long nextId,
        long backlogEvents,
        String contentType,
        int windowEvents,
        boolean strict,
        Durability durability) {}
