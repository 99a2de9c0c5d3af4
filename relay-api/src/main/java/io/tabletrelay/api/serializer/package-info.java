/**
 * The SPI that turns what a source sends into the payloads that consumers get.
 *
 * <p>Read next: {@link io.tabletrelay.api.serializer.EventSerializer}.
 */
@NullMarked
package io.tabletrelay.api.serializer;

import org.jspecify.annotations.NullMarked;
