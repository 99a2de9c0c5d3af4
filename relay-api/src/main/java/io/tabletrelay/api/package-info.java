/**
 * What plugins and embedders may see: names, errors and the result of a publish.
 *
 * <p>Read next: {@code io.tabletrelay.api.serializer}.
 */
@NullMarked
package io.tabletrelay.api;

import org.jspecify.annotations.NullMarked;
