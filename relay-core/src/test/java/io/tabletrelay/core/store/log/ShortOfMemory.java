package io.tabletrelay.core.store.log;

import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.store.EventTailer;
import io.tabletrelay.core.store.StoreException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** A process with little memory that reads and writes logs of large events, and prints what came of it. */
final class ShortOfMemory {
    static final int LOGS = 12;
    static final int EVENTS = 2;
    static final int EVENT_BYTES = 3 << 20;

    private static final StoreConfig CONFIG = new StoreConfig(16 << 20, 4 << 20, 0, 0, 0);

    private ShortOfMemory() {}

    public static void main(String[] args) {
        Path folder = Path.of(args[1]);
        if (args[0].equals("many")) {
            List<TestLog> logs = new ArrayList<>();
            for (int i = 0; i < LOGS; i++) {
                logs.add(write(folder.resolve("log-" + i)));
            }
            System.out.println(readInTurns(logs));
        } else {
            TestLog test = new TestLog(folder, CONFIG);
            EventTailer tailer = test.log.openTailer();
            System.out.println(outcome(tailer::nextOpened) + " " + outcome(tailer::nextOpened) + " "
                    + outcome(() -> test.append(TestLog.bytes(EVENT_BYTES))) + " "
                    + outcome(() -> test.append("small")) + " " + outcome(() -> test.append("small")));
        }
    }

    static TestLog write(Path folder) {
        TestLog test = new TestLog(folder, CONFIG);
        for (int i = 0; i < EVENTS; i++) {
            test.append(TestLog.bytes(EVENT_BYTES));
        }
        return test;
    }

    /** Every log has two tailers, as a pipe's has, and all read at the same time. */
    private static String readInTurns(List<TestLog> logs) {
        List<EventTailer> tailers = new ArrayList<>();
        for (TestLog test : logs) {
            tailers.add(test.log.openTailer());
            tailers.add(test.log.openTailer());
        }
        int events = 0;
        for (int i = 0; i < EVENTS; i++) {
            for (EventTailer tailer : tailers) {
                events += tailer.nextOpened() == EventTailer.Step.EVENT
                                && tailer.payload().remaining() == EVENT_BYTES
                        ? 1
                        : 0;
            }
        }
        return "read " + events;
    }

    private static String outcome(Supplier<Object> step) {
        try {
            return step.get().toString();
        } catch (StoreException e) {
            return e.code().name();
        }
    }
}
