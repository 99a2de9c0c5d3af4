/**
 * A data directory that no relay uses: what is in it, what is damaged, and a repaired copy of it.
 *
 * <p>Read next: {@code io.tabletrelay.core.config}.
 */
@NullMarked
package io.tabletrelay.core.store.check;

import org.jspecify.annotations.NullMarked;
