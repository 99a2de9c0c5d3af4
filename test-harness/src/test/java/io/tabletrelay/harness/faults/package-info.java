/** Faults that relays are known for, each as an input to a whole relay, with real sockets and files; {@code docs/faults.md} lists them. */
@org.jspecify.annotations.NullMarked
package io.tabletrelay.harness.faults;
