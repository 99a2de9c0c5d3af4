package io.tabletrelay.core.plugin;

import io.tabletrelay.api.Payload;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.api.serializer.BadEventException;
import io.tabletrelay.api.serializer.EventSerializer;
import io.tabletrelay.api.serializer.SerializerContext;
import io.tabletrelay.api.serializer.SourceEvent;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One source type's serializer behind a wall: whatever it throws refuses the event at hand and nothing else.
 *
 * <p>A serializer that is not thread-safe has one instance per pipe; an instance that broke is replaced by a new one.
 *
 * <p>Threading: thread-safe; calls for one pipe exclude each other if the serializer is not thread-safe.
 */
public final class GuardedSerializer implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(GuardedSerializer.class);

    private final String sourceType;
    private final ClassLoader loader;
    private final SerializerContext context;
    private final Supplier<EventSerializer> newInstance;
    private final @Nullable EventSerializer shared;
    private final Map<PipeName, PipeInstance> perPipe = new ConcurrentHashMap<>();

    /**
     * @param first an instance that is open
     * @param newInstance makes further ones, not open yet
     */
    GuardedSerializer(
            String sourceType,
            EventSerializer first,
            Supplier<EventSerializer> newInstance,
            ClassLoader loader,
            SerializerContext context) {
        this.sourceType = sourceType;
        this.loader = loader;
        this.context = context;
        this.newInstance = newInstance;
        this.shared = first.threadSafe() ? first : null;
        if (shared == null) {
            closeQuietly(first);
        }
    }

    public String sourceType() {
        return sourceType;
    }

    /** False: calls for one pipe would wait for each other, so give them one after another. */
    public boolean threadSafe() {
        return shared != null;
    }

    /**
     * Returns what consumers shall get for this event, possibly nothing.
     *
     * @throws EventRefusedException if the serializer refuses the event or breaks on it
     * @throws RelayException with TOO_LARGE if it makes more of the event than may be stored
     */
    public List<Payload> serialize(SourceEvent event) {
        LimitedSink sink = new LimitedSink(event, context);
        try {
            inPluginContext(() -> call(event, sink));
        } catch (BadEventException e) {
            throw refusal(event, sink, e);
        } catch (Throwable e) {
            throw breakage(event, sink, e);
        } finally {
            sink.close();
        }
        return sink.payloads();
    }

    private void call(SourceEvent event, LimitedSink sink) throws BadEventException {
        if (shared != null) {
            shared.serialize(event, sink);
        } else {
            perPipe.computeIfAbsent(event.pipe(), pipe -> new PipeInstance()).serialize(event, sink);
        }
    }

    private RelayException refusal(SourceEvent event, LimitedSink sink, BadEventException e) {
        RelayException passedLimit = sink.passedLimit();
        return passedLimit != null
                ? passedLimit
                : new EventRefusedException(
                        "event refused: pipe=" + event.pipe() + ", type=" + sourceType + ", problem=" + e.getMessage(),
                        e);
    }

    private RelayException breakage(SourceEvent event, LimitedSink sink, Throwable e) {
        RelayException passedLimit = sink.passedLimit();
        if (passedLimit != null) {
            return passedLimit;
        }
        log.warn("serializer broke on an event: pipe={}, type={}; the event is refused", event.pipe(), sourceType, e);
        return new EventRefusedException(
                "event refused, its serializer broke: pipe=" + event.pipe() + ", type=" + sourceType + ", error="
                        + e.getClass().getSimpleName() + "; the relay's log has the details",
                e);
    }

    /** Closes all instances; nobody may serialize any more. */
    @Override
    public void close() {
        if (shared != null) {
            closeQuietly(shared);
        }
        perPipe.values().forEach(PipeInstance::close);
        perPipe.clear();
    }

    private void closeQuietly(EventSerializer serializer) {
        try {
            inPluginContext(serializer::close);
        } catch (Throwable e) {
            log.warn("serializer broke while closing: type={}", sourceType, e);
        }
    }

    private <E extends Exception> void inPluginContext(PluginCall<E> call) throws E {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(loader);
        try {
            call.run();
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    private interface PluginCall<E extends Exception> {
        void run() throws E;
    }

    /**
     * One pipe's own instance.
     *
     * <p>Threading: thread-safe by its monitor.
     */
    private final class PipeInstance {
        private @Nullable EventSerializer serializer;

        synchronized void serialize(SourceEvent event, LimitedSink sink) throws BadEventException {
            EventSerializer used = serializer;
            serializer = null;
            if (used == null) {
                used = newInstance.get();
                used.open(context);
            }
            boolean sound = false;
            try {
                used.serialize(event, sink);
                sound = true;
            } catch (BadEventException e) {
                sound = true;
                throw e;
            } finally {
                if (sound) {
                    serializer = used;
                } else {
                    closeQuietly(used);
                }
            }
        }

        synchronized void close() {
            if (serializer != null) {
                closeQuietly(serializer);
                serializer = null;
            }
        }
    }
}
