package io.tabletrelay.core.delivery;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.core.store.EventTailer;
import io.tabletrelay.core.store.EventTailer.Step;
import io.tabletrelay.core.store.StoreException;
import org.jspecify.annotations.Nullable;

/**
 * Reads events by their ids. A segment that is not open is opened on an I/O thread; the pipe has its next turn when it is.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 */
final class EventReader implements AutoCloseable {
    private final EventTailer tailer;
    private final DiskTasks diskTasks;
    /** What the tailer reads next; 0: it must be moved first. */
    private long nextId;

    private boolean opening;

    EventReader(EventTailer tailer, DiskTasks diskTasks) {
        this.tailer = tailer;
        this.diskTasks = diskTasks;
    }

    /** Reads this event, which must not be void. */
    Step read(long id) {
        if (opening) {
            return Step.OPENING;
        }
        if (nextId != id) {
            tailer.moveTo(id); // also if it stands there: what it showed may have been overwritten
        }
        Step step = tailer.next();
        nextId = step == Step.EVENT || step == Step.DAMAGED ? tailer.lastId() + 1 : 0;
        if (step == Step.OPENING) {
            opening = true;
            diskTasks.submit(tailer::open, this::opened);
        }
        return step;
    }

    /** Stands on what was read last. */
    EventTailer found() {
        return tailer;
    }

    @Override
    public void close() {
        tailer.close();
    }

    private void opened(@Nullable Throwable failure) {
        opening = false;
        if (failure != null) {
            throw new StoreException(
                    ErrorCode.PIPE_FAILED, "segment cannot be opened: " + failure.getMessage(), failure);
        }
    }
}
