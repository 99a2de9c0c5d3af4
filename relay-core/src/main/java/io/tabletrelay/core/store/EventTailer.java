package io.tabletrelay.core.store;

import java.nio.ByteBuffer;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads a log forward. It stands on one event at a time; what its accessors return is good until its next step, and not
 * longer than until the caller's turn ends: the thread's next append or step of another tailer may overwrite it.
 *
 * <p>Threading: confined to the thread that uses it: the pipe's transfer thread, for dead letters an I/O task. Closed by an
 * I/O task while nobody reads.
 */
public interface EventTailer extends AutoCloseable {
    /** What a step found. */
    enum Step {
        /** The next event, whole and checked. */
        EVENT,
        /** Ids {@link #id} to {@link #lastId} should be there and cannot be read; the next step goes on behind them. */
        DAMAGED,
        /** Nothing more that is durable, for now. */
        END,
        /** The next event's segment is not open, or must be searched: {@link #open} first, then step again. */
        OPENING
    }

    /** The next step reads the first event from this id on. */
    void moveTo(long id);

    /**
     * Goes one event further, past void ids.
     *
     * @throws StoreException if the event cannot be read now, whatever is in the file (no memory, no file handle); the tailer
     *     stands where it stood
     * @throws DamageException instead of returning DAMAGED, in a pipe that stops then
     */
    Step next();

    /**
     * Opens the segment of the next event, or searches it where it is damaged. I/O thread; nothing else may be called meanwhile.
     *
     * @throws StoreException if that cannot be done now, whatever is in the file
     */
    void open();

    /** The same as {@link #next}, but opens and searches what must be. I/O thread. */
    default Step nextOpened() {
        Step step = next();
        while (step == Step.OPENING) {
            open();
            step = next();
        }
        return step;
    }

    /** The event's id; after DAMAGED the first id lost. */
    long id();

    /** The event's id; after DAMAGED the last id lost. */
    long lastId();

    /** When the event was appended, ms since the epoch. */
    long appendedAtMillis();

    /** The event's payload, from position to limit; read-only. */
    ByteBuffer payload();

    String contentType();

    /** The event's headers, decoded anew at each call. */
    Map<String, String> headers();

    /** The header of that name, null if there is none; costs nothing then. The name is of ASCII letters. */
    @Nullable
    String header(String name);

    @Override
    void close();
}
