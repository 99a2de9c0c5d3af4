/**
 * The data directory: who owns it, where each pipe is, and how its files are opened together.
 *
 * <p>Read next: {@code io.tabletrelay.core.config}.
 */
@NullMarked
package io.tabletrelay.core.store.folder;

import org.jspecify.annotations.NullMarked;
