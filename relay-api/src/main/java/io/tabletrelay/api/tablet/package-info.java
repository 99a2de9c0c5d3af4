/**
 * Tablets, the batches of time series that Apache IoTDB ships, and their bytes; written without IoTDB's own library.
 *
 * <p>Read next: {@link io.tabletrelay.api.tablet.TabletCodec}.
 */
@NullMarked
package io.tabletrelay.api.tablet;

import org.jspecify.annotations.NullMarked;
