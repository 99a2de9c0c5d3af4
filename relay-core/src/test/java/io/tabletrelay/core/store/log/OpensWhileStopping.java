package io.tabletrelay.core.store.log;

import java.nio.file.Path;

/** A process that opens its first log while it is stopping. */
final class OpensWhileStopping {
    private OpensWhileStopping() {}

    public static void main(String[] args) {
        EventLogs.prepare();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> open(Path.of(args[0]))));
        System.exit(0);
    }

    @SuppressWarnings("CatchAndPrintStackTrace")
    private static void open(Path folder) {
        try (TestLog test = new TestLog(folder)) {
            System.out.println("appended " + test.append("a") + " read "
                    + test.readAll().events().size());
        } catch (RuntimeException | Error e) {
            System.out.println(e);
        }
    }
}
