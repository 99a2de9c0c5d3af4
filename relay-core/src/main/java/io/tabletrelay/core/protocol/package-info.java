/**
 * Control lines and data frames: pure text and bytes, both ways.
 *
 * <p>Read next: {@code io.tabletrelay.core.server}.
 */
@NullMarked
package io.tabletrelay.core.protocol;

import org.jspecify.annotations.NullMarked;
