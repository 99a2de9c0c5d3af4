package io.tabletrelay.core.delivery;

/**
 * What became of the dead letters that were selected.
 *
 * <p>Threading: immutable.
 *
 * @param count so many were redriven, or purged
 * @param passed so many were not redriven since nothing is left of their events
 * @param firstId the first event made of them; 0: none
 * @param lastId the last one
 * @param more true if others may be selected: ask again
 */
public record HandledCount(int count, int passed, long firstId, long lastId, boolean more) {}
