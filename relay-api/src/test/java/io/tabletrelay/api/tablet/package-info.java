@NullMarked
package io.tabletrelay.api.tablet;

import org.jspecify.annotations.NullMarked;
