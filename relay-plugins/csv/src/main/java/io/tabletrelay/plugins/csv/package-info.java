/** Source type {@code csv}: rows of text to tablets or JSON objects. */
@NullMarked
package io.tabletrelay.plugins.csv;

import org.jspecify.annotations.NullMarked;
