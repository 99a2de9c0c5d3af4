/** The WebSocket edge of a relay in a process of its own, against clients that are slow, dead, many or foreign. */
@org.jspecify.annotations.NullMarked
package io.tabletrelay.harness.edge;
