/**
 * The command {@code relay bench}: what the relay costs, as ratios to what its parts could do alone.
 *
 * <p>Read next: {@code io.tabletrelay.harness.bench.client}.
 */
@NullMarked
package io.tabletrelay.harness.bench;

import org.jspecify.annotations.NullMarked;
