/**
 * Clients of a relay, on what the JDK has: a consumer and a producer that connect again by themselves.
 *
 * <p>Read next: {@link io.tabletrelay.api.client.RelayConsumer}, {@link io.tabletrelay.api.client.RelayProducer}.
 */
@NullMarked
package io.tabletrelay.api.client;

import org.jspecify.annotations.NullMarked;
