/** Source type {@code iotdb-tablet}: tablets as IoTDB writes them, validated and otherwise as they are. */
@NullMarked
package io.tabletrelay.plugins.iotdbtablet;

import org.jspecify.annotations.NullMarked;
