/**
 * Publishing, status, health and metrics over HTTP.
 *
 * <p>Read next: {@code io.tabletrelay.core.pipe}.
 */
@NullMarked
package io.tabletrelay.core.http;

import org.jspecify.annotations.NullMarked;
