/** Source type {@code json}: documents, validated and otherwise as they are. */
@NullMarked
package io.tabletrelay.plugins.json;

import org.jspecify.annotations.NullMarked;
