/**
 * The event log on Chronicle Queue: segments, records, recovery after anything.
 *
 * <p>Read next: {@code io.tabletrelay.core.store.acks}.
 */
@NullMarked
package io.tabletrelay.core.store.log;

import org.jspecify.annotations.NullMarked;
