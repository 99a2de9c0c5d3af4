/**
 * What the rest of the relay sees of a log: events in the order of their ids, and how they are read.
 *
 * <p>Read next: {@code io.tabletrelay.core.store.log}.
 */
@NullMarked
package io.tabletrelay.core.store;

import org.jspecify.annotations.NullMarked;
