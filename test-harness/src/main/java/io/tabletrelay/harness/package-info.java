/**
 * What it takes to prove the relay's promises from outside: the relay as a child process that can be killed, clients that
 * behave badly or like the released one, and a history that is checked.
 *
 * <p>Read next: {@code io.tabletrelay.harness.History}.
 */
@NullMarked
package io.tabletrelay.harness;

import org.jspecify.annotations.NullMarked;
