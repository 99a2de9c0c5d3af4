@NullMarked
package io.tabletrelay.api.client;

import org.jspecify.annotations.NullMarked;
