package io.tabletrelay.core.delivery;

import io.tabletrelay.core.store.EventLog;
import io.tabletrelay.core.store.EventTailer.Step;

/**
 * Finds the first event that was appended at a time or later, by halving. Clocks that were set back make the answer one of several
 * that are as right.
 *
 * <p>Threading: confined to the pipe's transfer thread; closed by an I/O task while nobody reads.
 */
public final class StartSearch implements AutoCloseable {
    private final EventLog log;
    private final EventReader reader;
    private final long timeMillis;
    /** The answer is not below this, */
    private long from;
    /** and not above that. */
    private long to;
    /** What is read to halve what lies between; 0: to be chosen. */
    private long probe;

    public StartSearch(EventLog log, DiskTasks diskTasks, long timeMillis) {
        this.log = log;
        this.reader = new EventReader(log.openTailer(), diskTasks);
        this.timeMillis = timeMillis;
        this.from = log.firstId();
        this.to = log.durableId() + 1;
    }

    /** Goes on; false: a segment is being opened, and the next turn finds it. */
    public boolean step() {
        while (from < to) {
            long middle = (from + to) >>> 1;
            long id = log.skipVoid(Math.max(probe, middle));
            if (id >= to) { // nothing to be read in the upper half
                probe = 0;
                to = middle;
                continue;
            }
            probe = id;
            Step step = reader.read(id);
            if (step == Step.OPENING) {
                return false;
            }
            narrow(step, middle);
        }
        return true;
    }

    private void narrow(Step step, long middle) {
        if (step == Step.DAMAGED) {
            probe = reader.found().lastId() + 1;
        } else if (step == Step.EVENT && reader.found().appendedAtMillis() < timeMillis) {
            from = probe + 1;
            probe = 0;
        } else {
            to = middle;
            probe = 0;
        }
    }

    /** The id, once {@link #step} has returned true; one above the newest if all are older. */
    public long found() {
        return log.skipVoid(to);
    }

    @Override
    public void close() {
        reader.close();
    }
}
