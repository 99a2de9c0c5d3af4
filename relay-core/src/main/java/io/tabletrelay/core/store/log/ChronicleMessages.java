package io.tabletrelay.core.store.log;

import java.util.List;
import net.openhft.chronicle.core.onoes.ExceptionHandler;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes what Chronicle has to say: messages that mean lost or unreachable events are alarms, the others are its own
 * housekeeping.
 *
 * <p>Threading: immutable.
 */
final class ChronicleMessages implements ExceptionHandler {
    /** How Chronicle rates a message. */
    enum Level {
        ERROR,
        WARN,
        DEBUG
    }

    private static final Logger LOG = LoggerFactory.getLogger(ChronicleMessages.class);
    private static final List<String> ALARMS = List.of(
            "Forced unlock",
            "Forcibly unlocking",
            "Renamed un-acquirable segment file",
            "Failback to readonly tablestore",
            "Forcing queue to be readOnly",
            "current cycle seems to have been deleted");

    /** Segments are read without Chronicle's metadata on purpose. */
    private static final String EXPECTED = "Metadata file not found in readOnly mode";

    private final Level level;

    ChronicleMessages(Level level) {
        this.level = level;
    }

    @Override
    public void on(Class<?> source, @Nullable String message, @Nullable Throwable thrown) {
        on(source.getName(), message, thrown);
    }

    @Override
    public void on(Logger source, @Nullable String message, @Nullable Throwable thrown) {
        on(source.getName(), message, thrown);
    }

    @Override
    public boolean isEnabled(Class<?> source) {
        return level != Level.DEBUG || LOG.isDebugEnabled();
    }

    private void on(String source, @Nullable String message, @Nullable Throwable thrown) {
        String text = message == null ? String.valueOf(thrown) : message;
        if (text.contains(EXPECTED)) {
            LOG.debug("{}: {}", source, text);
        } else if (ALARMS.stream().anyMatch(text::contains)) {
            LOG.error("chronicle alarm: source={}, message={}", source, text, thrown);
        } else if (level == Level.DEBUG) {
            LOG.debug("{}: {}", source, text, thrown);
        } else {
            LOG.warn("chronicle {}: source={}, message={}", level, source, text, thrown);
        }
    }
}
