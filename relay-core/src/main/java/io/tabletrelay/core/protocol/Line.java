package io.tabletrelay.core.protocol;

import io.tabletrelay.api.PipeName;

/**
 * What a consumer of dialect 1 can say.
 *
 * <p>Threading: immutable.
 */
public sealed interface Line {
    /** The consumer wants this pipe's events. */
    record Bind(PipeName pipe) implements Line {}

    /** The consumer is done with this event. */
    record Ack(long id) implements Line {}

    /** The consumer could not use this event. */
    record Nack(long id) implements Line {}
}
