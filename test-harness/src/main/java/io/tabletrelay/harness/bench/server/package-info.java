/**
 * The benches' servers, each in a JVM of its own: the relay, and what it is compared with.
 *
 * <p>Read next: {@code io.tabletrelay.harness.bench.server.BenchServer}.
 */
@NullMarked
package io.tabletrelay.harness.bench.server;

import org.jspecify.annotations.NullMarked;
