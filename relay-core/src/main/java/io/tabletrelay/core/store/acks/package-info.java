/**
 * What one subscription has settled, and what is known of its failing events.
 *
 * <p>Read next: {@code io.tabletrelay.core.store.folder}.
 */
@NullMarked
package io.tabletrelay.core.store.acks;

import org.jspecify.annotations.NullMarked;
