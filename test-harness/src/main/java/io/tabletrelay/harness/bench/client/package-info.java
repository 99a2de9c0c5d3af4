/**
 * The benches' clients and publishers, in the JVM that measures, and its side of the server processes.
 *
 * <p>Read next: {@code io.tabletrelay.harness.bench.client.RawConsumer}.
 */
@NullMarked
package io.tabletrelay.harness.bench.client;

import org.jspecify.annotations.NullMarked;
