/** The command {@code relay demo}: the promises, shown in half a minute. */
@NullMarked
package io.tabletrelay.harness.demo;

import org.jspecify.annotations.NullMarked;
