/**
 * What one subscription has delivered, what must go again, and when it is given up.
 *
 * <p>Read next: {@code io.tabletrelay.core.store}.
 */
@NullMarked
package io.tabletrelay.core.delivery;

import org.jspecify.annotations.NullMarked;
