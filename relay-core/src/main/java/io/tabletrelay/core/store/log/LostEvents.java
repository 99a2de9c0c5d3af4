package io.tabletrelay.core.store.log;

import io.tabletrelay.core.store.DamageException;
import io.tabletrelay.core.store.IdRange;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Events of a segment that could not be read.
 *
 * <p>Threading: immutable.
 */
record LostEvents(LogLimits limits, long salt, SegmentFolder folder, IdRange ids) {
    DamageException stopped() {
        return new DamageException(
                ("events cannot be read: pipe=%s, segment=%s, ids=%d to %d, on-damage=stop; repair a copy of the data"
                                + " directory with relay check-data --repair, or make the pipe anew; a pipe that chose nothing"
                                + " goes on without them under relay serve --on-damage skip")
                        .formatted(limits.pipe(), folder.path(), ids.first(), ids.last()),
                this::areStillLost);
    }

    /** True unless the first of them can be read again. */
    private boolean areStillLost() {
        Path file = folder.file();
        if (file == null) {
            return true;
        }
        try (SegmentSearch search = new SegmentSearch(file, new StoredRecord(limits.maxRecordBytes(), salt))) {
            return search.find(ids.first(), ids.first()) != ids.first();
        } catch (IOException e) {
            return true;
        }
    }
}
