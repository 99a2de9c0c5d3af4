/**
 * What the command line needs to talk to a relay in another process: its HTTP API, and dialect 1 as a consumer.
 *
 * <p>Knows nothing of the engine. Read next: {@code io.tabletrelay.core}.
 */
@NullMarked
package io.tabletrelay.core.client;

import org.jspecify.annotations.NullMarked;
