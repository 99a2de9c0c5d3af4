@NullMarked
package io.tabletrelay.harness.bench.report;

import org.jspecify.annotations.NullMarked;
