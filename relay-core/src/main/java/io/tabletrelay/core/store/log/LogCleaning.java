package io.tabletrelay.core.store.log;

import io.tabletrelay.core.store.IdRange;
import io.tabletrelay.core.store.log.SegmentFolder.State;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a relay does about a log that is not as it should be: it clears away what would be in its way, and says the rest.
 *
 * <p>Threading: immutable.
 *
 * @param pipe the log's name in messages
 */
record LogCleaning(String pipe) implements LogRecovery.Findings {
    private static final Logger LOG = LoggerFactory.getLogger(LogCleaning.class);

    @Override
    public void eventless(SegmentFolder folder) {
        LOG.debug("segment never had an event: pipe={}, segment={}; deleted", pipe, folder.path());
        folder.delete();
    }

    /** Should the disk refuse, it costs its space and nothing else. */
    @Override
    public void deleted(Path left) {
        try {
            SegmentFolder.deleteAll(left);
        } catch (UncheckedIOException e) {
            LOG.warn("what is left of a segment cannot be deleted: pipe={}, folder={}", pipe, left, e);
        }
    }

    @Override
    public void endIsLost(IdRange ids) {
        LOG.error(
                "log ends before what was appended to it: pipe={}, ids={} to {} are lost; were files deleted or replaced?",
                pipe,
                ids.first(),
                ids.last());
    }

    @Override
    public void foreign(Path file) {
        String name = Objects.toString(file.getFileName()) + ".foreign";
        Path aside = file.resolveSibling(name);
        for (int copy = 2; Files.exists(aside); copy++) {
            aside = file.resolveSibling(name + "-" + copy);
        }
        try {
            Files.move(file, aside);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        LOG.error("foreign queue file: pipe={}, file={}; moved to {}", pipe, file, aside);
    }

    @Override
    public void damaged(SegmentFolder folder, State state, boolean headerIsLost) {
        LOG.error(
                "segment is damaged: pipe={}, segment={}, state={}, header={}; what can be found in it is read",
                pipe,
                folder.path(),
                state,
                headerIsLost ? "lost" : "whole");
    }
}
