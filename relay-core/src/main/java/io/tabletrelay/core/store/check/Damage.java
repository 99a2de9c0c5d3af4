package io.tabletrelay.core.store.check;

import org.jspecify.annotations.Nullable;

/**
 * Something that is not as it was written.
 *
 * <p>Threading: immutable.
 *
 * @param file within the data directory
 * @param firstId of the events that are lost by it, and the last; null if none is
 */
public record Damage(
        String file, @Nullable Long firstId, @Nullable Long lastId, String what) {}
