/**
 * The WebSocket edge: one session a connection, built so that no client can hurt it.
 *
 * <p>Read next: {@code io.tabletrelay.core.pipe}.
 */
@NullMarked
package io.tabletrelay.core.server;

import org.jspecify.annotations.NullMarked;
