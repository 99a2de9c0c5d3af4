@NullMarked
package io.tabletrelay.plugins.json;

import org.jspecify.annotations.NullMarked;
