/**
 * Finds serializers, checks them, and keeps their failures away from the relay.
 *
 * <p>Read next: {@code io.tabletrelay.core.config}.
 */
@NullMarked
package io.tabletrelay.core.plugin;

import org.jspecify.annotations.NullMarked;
