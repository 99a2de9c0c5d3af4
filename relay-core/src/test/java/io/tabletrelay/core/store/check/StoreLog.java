package io.tabletrelay.core.store.check;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.slf4j.LoggerFactory;

/**
 * What the store logs at warn and above, kept instead of printed.
 *
 * <p>Threading: thread-safe, by one queue per thread.
 */
final class StoreLog extends AppenderBase<ILoggingEvent> implements AutoCloseable {
    private final Logger logger = (Logger) LoggerFactory.getLogger("io.tabletrelay.core.store");
    private final Map<String, Queue<String>> lines = new ConcurrentHashMap<>();

    StoreLog() {
        logger.setLevel(Level.WARN);
        logger.setAdditive(false);
        logger.addAppender(this);
        start();
    }

    @Override
    protected void append(ILoggingEvent event) {
        lines.computeIfAbsent(event.getThreadName(), name -> new ConcurrentLinkedQueue<>())
                .add(event.getFormattedMessage());
    }

    /** What this thread logged since it asked last. */
    List<String> take() {
        Queue<String> own = lines.remove(Thread.currentThread().getName());
        return own == null ? List.of() : new ArrayList<>(own);
    }

    @Override
    public void close() {
        logger.detachAppender(this);
        logger.setAdditive(true);
        logger.setLevel(null);
    }
}
