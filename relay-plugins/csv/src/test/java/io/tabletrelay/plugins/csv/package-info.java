@NullMarked
package io.tabletrelay.plugins.csv;

import org.jspecify.annotations.NullMarked;
