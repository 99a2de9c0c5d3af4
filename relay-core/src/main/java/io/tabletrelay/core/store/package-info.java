/**
 * Bytes on disk: the log, the settled ids, and what is needed to open them after anything.
 *
 * <p>Read next: {@code io.tabletrelay.core.config}.
 */
@NullMarked
package io.tabletrelay.core.store;

import org.jspecify.annotations.NullMarked;
