package io.tabletrelay.core.store.log;

import io.tabletrelay.core.store.EventGroup;
import java.nio.file.Path;

/** A process that starts a new segment for each event until it is killed, and prints which event got which id. */
final class RollingWriter {
    private static final int TWO_DO_NOT_FIT_BYTES = 530_000;

    private RollingWriter() {}

    public static void main(String[] args) {
        ChronicleEventLog log = KilledWriter.open(Path.of(args[0]));
        for (int serial = 1; ; serial++) {
            String name = args[1] + "-" + serial + " ";
            EventGroup group = TestLog.group(null, name + "x".repeat(TWO_DO_NOT_FIT_BYTES));
            log.makeRoomFor(group);
            System.out.println(log.append(group) + " " + name);
        }
    }
}
