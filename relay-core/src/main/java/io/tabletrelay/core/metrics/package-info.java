/**
 * Every metric's name and meaning.
 *
 * <p>Read next: {@code io.tabletrelay.core.pipe}.
 */
@NullMarked
package io.tabletrelay.core.metrics;

import org.jspecify.annotations.NullMarked;
