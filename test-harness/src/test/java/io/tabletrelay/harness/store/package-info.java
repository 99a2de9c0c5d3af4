/** The store of a relay in a process of its own: on disks that fail it, and with very many pipes. */
@org.jspecify.annotations.NullMarked
package io.tabletrelay.harness.store;
