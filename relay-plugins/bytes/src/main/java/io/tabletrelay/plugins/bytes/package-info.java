/** Source type {@code bytes}: any bytes, as they are. */
@NullMarked
package io.tabletrelay.plugins.bytes;

import org.jspecify.annotations.NullMarked;
