@NullMarked
package io.tabletrelay.plugins.bytes;

import org.jspecify.annotations.NullMarked;
