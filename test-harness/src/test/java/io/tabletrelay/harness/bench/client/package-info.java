@NullMarked
package io.tabletrelay.harness.bench.client;

import org.jspecify.annotations.NullMarked;
