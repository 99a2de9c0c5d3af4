/**
 * One pipe's commands, its loop and the threads that run loops.
 *
 * <p>Read next: {@code io.tabletrelay.core.delivery}.
 */
@NullMarked
package io.tabletrelay.core.pipe;

import org.jspecify.annotations.NullMarked;
