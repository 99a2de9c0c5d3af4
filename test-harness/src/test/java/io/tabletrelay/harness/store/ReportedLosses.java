package io.tabletrelay.harness.store;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The ids of each pipe that relays said in their logs are, or may be, gone.
 *
 * <p>Threading: thread-safe by its monitor.
 */
final class ReportedLosses {
    private static final Pattern LOST_TAIL =
            Pattern.compile("lost its tail: pipe=([^,]+), last=(\\d+),.* ids go on at (\\d+)");
    private static final Pattern DAMAGED = Pattern.compile("damaged: .*/pipes/([^/]+)/events/.*ids=(\\d+) to (\\d+)");

    private final Map<String, List<long[]>> rangesByPipe = new HashMap<>();

    synchronized void line(String line) {
        Matcher tail = LOST_TAIL.matcher(line);
        if (tail.find()) {
            add(tail.group(1), Long.parseLong(tail.group(2)) + 1, Long.parseLong(tail.group(3)) - 1);
        }
        Matcher damaged = DAMAGED.matcher(line);
        if (damaged.find()) {
            add(damaged.group(1), Long.parseLong(damaged.group(2)), Long.parseLong(damaged.group(3)));
        }
    }

    private void add(String pipe, long first, long last) {
        rangesByPipe.computeIfAbsent(pipe, name -> new ArrayList<>()).add(new long[] {first, last});
    }

    synchronized boolean cover(String pipe, long id) {
        return rangesByPipe.getOrDefault(pipe, List.of()).stream().anyMatch(range -> range[0] <= id && id <= range[1]);
    }
}
