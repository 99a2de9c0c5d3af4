package io.tabletrelay.core.delivery;

import io.tabletrelay.api.Payload;

/**
 * A dead letter with what is left of its event.
 *
 * <p>Threading: immutable, as its payload is.
 *
 * @param event with the event's own headers
 */
public record LetterContent(DeadLetter letter, Payload event) {}
