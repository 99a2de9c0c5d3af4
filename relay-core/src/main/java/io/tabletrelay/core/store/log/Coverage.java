package io.tabletrelay.core.store.log;

import io.tabletrelay.api.Durability;
import io.tabletrelay.core.store.ForceFailedException;
import io.tabletrelay.core.store.SmallFile;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How far a log is on disk, and the forces that bring it there; at durability process nothing is ever forced here.
 *
 * <p>All that an older segment has is covered before the next one is born, so that only the newest one can have events that are
 * not, and its header can say so. A force that failed is never made again: the kernel would call the pages clean that it
 * could not write. What that force should have covered is void instead.
 *
 * <p>Threading: forces are made by I/O threads, one at a time; what is covered is published by volatile fields.
 */
final class Coverage {
    private static final Logger LOG = LoggerFactory.getLogger(Coverage.class);

    private final LogLimits limits;
    private final Path log;
    private final Forcing forcing;
    private final boolean atDisk;
    private final UncoveredSegments found;
    private boolean parentForced;
    private final long forcedAtOpenId;
    private volatile long coveredId;
    private volatile @Nullable IOException loss;
    /** What is noted of its segment is the last word. */
    private volatile @Nullable SegmentWriter lostWriter;

    /** The log was found to end with {@code lastId}, void ones included. */
    Coverage(LogLimits limits, Path log, Forcing forcing, RecoveredLog recovered, long lastId) {
        this.limits = limits;
        this.log = log;
        this.forcing = forcing;
        this.atDisk = limits.config().durability() == Durability.DISK;
        this.found = new UncoveredSegments(recovered.uncovered(), log, forcing);
        this.forcedAtOpenId = recovered.forcedId();
        this.coveredId = recovered.uncovered().isEmpty()
                ? lastId
                : recovered.uncovered().get(0).firstId() - 1;
    }

    /** The id up to which confirmations and deliveries may go, in a log that ends with {@code lastId}. */
    long durableId(long lastId) {
        return atDisk ? coveredId : lastId;
    }

    /** Ids up to this one are known to be on disk. */
    long coveredId() {
        return coveredId;
    }

    /** What a record says that is written now; 0: nothing. */
    long knownId() {
        return atDisk ? coveredId : 0;
    }

    /** What a segment's header says that is born behind {@code lastValidId}, when everything was covered. */
    long forcedId(long lastValidId) {
        return atDisk ? lastValidId : forcedAtOpenId;
    }

    /** What made a force fail whose events are not void yet, or null. */
    @Nullable
    IOException loss() {
        return loss;
    }

    /**
     * Brings everything up to that id to disk.
     *
     * @param writer of the newest segment; null: there was no append since the open
     * @throws ForceFailedException if that cannot be done; with a writer, what it should have covered is lost
     */
    void cover(@Nullable SegmentWriter writer, long upToId) {
        if (!atDisk || upToId <= coveredId) {
            return;
        }
        IOException earlier = loss;
        if (earlier != null) {
            throw failure(earlier);
        }
        try {
            if (writer == null) {
                found.cover();
            } else {
                writer.force(forcing, false);
            }
            coveredId = upToId;
        } catch (IOException e) {
            if (writer != null) {
                loss = e;
                lostWriter = writer;
                note(writer, new CoveredNote(coveredId, false));
            }
            throw failure(e);
        }
    }

    /** A segment is there as a whole, with all names that lead to it. Throws ForceFailedException if that cannot be said. */
    void born(SegmentWriter writer) {
        if (!atDisk) {
            return;
        }
        try {
            writer.force(forcing, true);
            forcing.directory(writer.folder().path());
            forcing.directory(log);
            if (!parentForced) {
                forcing.directory(SmallFile.parent(log));
                parentForced = true;
            }
        } catch (IOException e) {
            throw failure(e);
        }
    }

    /** Ids up to that one that were not covered are void, and need no force. */
    void voided(long lastId) {
        coveredId = lastId;
        loss = null;
    }

    /** The log is closed in order: what can be covered is, and the next open need not do it again. */
    void close(SegmentWriter writer, long lastId) {
        if (!atDisk || isLost(writer)) {
            return;
        }
        try {
            cover(writer, lastId);
            note(writer, new CoveredNote(lastId, true));
        } catch (ForceFailedException e) {
            LOG.error("log is closed with events that are not on disk: pipe={}", limits.pipe(), e);
        }
    }

    @SuppressWarnings("ReferenceEquality") // one writer, one segment
    private boolean isLost(SegmentWriter writer) {
        return writer == lostWriter;
    }

    private void note(SegmentWriter writer, CoveredNote note) {
        try {
            note.write(writer.folder());
        } catch (IOException e) {
            LOG.warn(
                    "cannot be noted: pipe={}, segment={}, covered up to {}; after a kill refused events may be there",
                    limits.pipe(),
                    writer.folder().path(),
                    note.id(),
                    e);
        }
    }

    private ForceFailedException failure(IOException cause) {
        return ForceFailedException.of("events cannot be forced to disk: pipe=" + limits.pipe(), log, cause);
    }
}
