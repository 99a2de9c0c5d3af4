package io.tabletrelay.harness.demo;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * A machine's made-up readings, one a second, as CSV: the same for each number.
 *
 * <p>Threading: immutable.
 */
final class SensorSeries {
    private static final long START_MILLIS = 1_764_547_200_000L;
    private static final int ROWS = 20;

    /** The rows of one request, numbered from 1. */
    ByteBuffer request(long number) {
        StringBuilder csv = new StringBuilder("time,temperature,pressure,running\n");
        for (long row = (number - 1) * ROWS; row < number * ROWS; row++) {
            double day = row * 2 * Math.PI / 86_400;
            csv.append(String.format(
                    Locale.ROOT,
                    "%d,%.3f,%.2f,%s%n",
                    START_MILLIS + row * 1000,
                    60 + 15 * Math.sin(day * 40) + 0.1 * (row % 7),
                    1.2 + 0.3 * Math.cos(day * 90),
                    row % 500 < 480));
        }
        return ByteBuffer.wrap(csv.toString().getBytes(StandardCharsets.UTF_8));
    }
}
