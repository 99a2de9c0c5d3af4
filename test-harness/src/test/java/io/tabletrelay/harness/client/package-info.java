/** Clients of dialect 2 against a live relay: the Java client, and the examples of docs/clients. */
@NullMarked
package io.tabletrelay.harness.client;

import org.jspecify.annotations.NullMarked;
