@NullMarked
package io.tabletrelay.harness.bench;

import org.jspecify.annotations.NullMarked;
