/**
 * Settings as checked records; defaults are what an embedded relay runs with.
 *
 * <p>Read next: {@code io.tabletrelay.core.store}.
 */
@NullMarked
package io.tabletrelay.core.config;

import org.jspecify.annotations.NullMarked;
