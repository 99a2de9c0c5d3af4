/** The store of a relay in a process of its own: how large it may become. */
@org.jspecify.annotations.NullMarked
package io.tabletrelay.harness.store;
