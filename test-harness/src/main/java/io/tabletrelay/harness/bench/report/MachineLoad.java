package io.tabletrelay.harness.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * What the machine's processors have done up to a moment, in ticks, and how much of it was this process and the children
 * that it has seen end. Linux only.
 *
 * <p>Threading: immutable.
 *
 * @param allTicks idle ones included
 * @param ownTicks of this process and its ended children
 */
public record MachineLoad(long allTicks, long busyTicks, long ownTicks) {
    private static final int IDLE = 3;
    private static final int WAITING_FOR_DISK = 4;
    /** Behind these, guests are counted that user time contains already. */
    private static final int KINDS = 8;

    private static final int OWN_USER = 11;
    private static final int OWN_AND_CHILDREN = 4;

    public static MachineLoad now() throws IOException {
        String machine = Files.readAllLines(Path.of("/proc/stat")).get(0);
        long[] ticks = numbers(machine.substring("cpu".length()), 0, KINDS);
        String process = Files.readString(Path.of("/proc/self/stat"));
        long[] own = numbers(process.substring(process.lastIndexOf(')') + 1), OWN_USER, OWN_AND_CHILDREN);
        long all = Arrays.stream(ticks).sum();
        return new MachineLoad(
                all,
                all - ticks[IDLE] - ticks[WAITING_FOR_DISK],
                Arrays.stream(own).sum());
    }

    /** The share of the machine's processors that others took since then, in percent; a run with much of that means little. */
    public double othersPercentSince(MachineLoad before) {
        long others = busyTicks - before.busyTicks - (ownTicks - before.ownTicks);
        return 100.0 * Math.max(0, others) / Math.max(1, allTicks - before.allTicks);
    }

    private static long[] numbers(String fields, int from, int count) {
        return Arrays.stream(fields.trim().split("\\s+", -1))
                .skip(from)
                .limit(count)
                .mapToLong(Long::parseLong)
                .toArray();
    }
}
