/**
 * The process: its command line, and the one place where a relay is put together and taken apart.
 *
 * <p>Read next: {@code io.tabletrelay.core.server}.
 */
@NullMarked
package io.tabletrelay.core;

import org.jspecify.annotations.NullMarked;
