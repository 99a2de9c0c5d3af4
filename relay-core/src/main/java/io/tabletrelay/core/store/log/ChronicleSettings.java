package io.tabletrelay.core.store.log;

import java.util.Map;
import net.openhft.chronicle.core.Jvm;

/**
 * What Chronicle must be told before the first of its classes is loaded: no analytics, no banner, no disk monitor, short
 * waits, and where its messages go.
 *
 * <p>Threading: immutable.
 */
final class ChronicleSettings {
    private static final Map<String, String> PROPERTIES = Map.of(
            "chronicle.analytics.disable", "true",
            "chronicle.announcer.disable", "true",
            "chronicle.disk.monitor.disable", "true",
            // nobody else holds that lock, but a stall before the first attempt counts too
            "chronicle.table.store.timeoutMS", "10000",
            // it takes itself for a part of a build, and creates target or /tmp/target: nothing can be created here
            "project.build.directory", "/dev/null");

    private ChronicleSettings() {}

    /** May be repeated; every way to a Chronicle queue begins here. */
    static void apply() {
        Applied.touch();
    }

    /** The class loader runs this once, and before any caller goes on. */
    private static final class Applied {
        static {
            PROPERTIES.forEach(System::setProperty);
            Jvm.setExceptionHandlers(
                    new ChronicleMessages(ChronicleMessages.Level.ERROR),
                    new ChronicleMessages(ChronicleMessages.Level.WARN),
                    new ChronicleMessages(ChronicleMessages.Level.DEBUG),
                    new ChronicleMessages(ChronicleMessages.Level.DEBUG));
        }

        static void touch() {}
    }
}
