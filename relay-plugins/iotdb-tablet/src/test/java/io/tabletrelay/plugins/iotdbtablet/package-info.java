@NullMarked
package io.tabletrelay.plugins.iotdbtablet;

import org.jspecify.annotations.NullMarked;
