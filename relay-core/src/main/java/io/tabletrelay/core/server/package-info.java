/**
 * The WebSocket edge: one session a connection, built so that no client can hurt it. {@code RelayServer} starts and
 * stops, {@code EdgePort} to {@code EdgeChannel} tame the library, {@code Connection} is one socket,
 * {@code ConsumerSession} what it says in dialect 1, {@code Dialect2Session} in dialect 2, with a {@code ConsumingSide} and a
 * {@code ProducingSide}.
 *
 * <p>Read next: {@code io.tabletrelay.core.pipe}.
 */
@NullMarked
package io.tabletrelay.core.server;

import org.jspecify.annotations.NullMarked;
