/**
 * What the benches found: figures, aims, tables, JSON, and where the time went.
 *
 * <p>Read next: {@code io.tabletrelay.harness.bench.report.Report}.
 */
@NullMarked
package io.tabletrelay.harness.bench.report;

import org.jspecify.annotations.NullMarked;
