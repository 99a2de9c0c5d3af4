package io.tabletrelay.core.store.folder;

import io.tabletrelay.api.Durability;
import io.tabletrelay.core.config.PipeSettings;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.store.EventLog;
import io.tabletrelay.core.store.SmallFile;
import io.tabletrelay.core.store.acks.AttemptJournal;
import io.tabletrelay.core.store.acks.SettledIds;
import io.tabletrelay.core.store.log.EventLogs;
import io.tabletrelay.core.store.log.IdMark;
import io.tabletrelay.core.store.log.LogOrigin;
import java.io.IOException;
import java.time.InstantSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One pipe's files, open: its log, its dead letters, and its subscriptions.
 *
 * <p>Threading: opened and closed by I/O threads; its parts are used as they say.
 */
public final class PipeStore implements AutoCloseable {
    private static final Logger logger = LoggerFactory.getLogger(PipeStore.class);

    private final PipeFolder folder;
    private final StoreConfig config;
    private final EventLog log;
    private final EventLog deadLetterLog;
    private final HandledLetters handledLetters;
    private final StoredSubscriptions subscriptions;

    private PipeStore(
            PipeFolder folder,
            StoreConfig config,
            EventLog log,
            EventLog deadLetterLog,
            HandledLetters handledLetters,
            StoredSubscriptions subscriptions) {
        this.folder = folder;
        this.config = config;
        this.log = log;
        this.deadLetterLog = deadLetterLog;
        this.handledLetters = handledLetters;
        this.subscriptions = subscriptions;
    }

    /**
     * Opens what is there and recovers it from whatever ended the last run. The settled ids are there before the first event
     * is, so that a pipe which has events and no such file has lost it. I/O thread.
     *
     * @param relay what holds where the pipe has chosen nothing else
     */
    public static PipeStore open(PipeFolder folder, StoreConfig relay, long maxAckSpread, InstantSource clock) {
        folder.checkIsThere();
        folder.checkIsOurs();
        StoreConfig config = folder.settings().over(relay);
        FoundSubscriptions found = find(folder, maxAckSpread);
        SettledIds settled = found.own().settled();
        boolean settledWereThere = found.ownWasThere();
        boolean settledAreKnown = settledWereThere && settled.damagedFile() == null;
        long shownUpTo = settled.damagedFile() == null
                ? Math.max(settled.appendedUpTo(), Math.max(settled.deliveredUpTo(), settled.floor()))
                : 0;
        StoredSubscriptions subscriptions =
                new StoredSubscriptions(folder, maxAckSpread, config.durability() == Durability.DISK, found);
        LogOrigin origin = new LogOrigin(
                folder.epoch(),
                folder.salt(),
                folder.firstFreeId(),
                shownUpTo,
                folder.bootChanged(),
                settledAreKnown ? settled.settledBelow() : LogOrigin.NOT_KNOWN);
        String pipe = folder.name().value();
        HandledLetters handled =
                HandledLetters.open(folder.path(), maxAckSpread, config.durability() == Durability.DISK);
        EventLog log = EventLogs.open(
                folder.eventsFolder(), pipe, origin, new FolderIdMark(folder), config, clock, folder.eventsMemory());
        try {
            LogOrigin deadLetters =
                    new LogOrigin(folder.epoch(), folder.salt(), 1, handled.toldUpTo(), false, LogOrigin.NOT_KNOWN);
            EventLog deadLetterLog = EventLogs.open(
                    folder.deadLettersFolder(),
                    pipe + " (dead letters)",
                    deadLetters,
                    IdMark.NONE,
                    config.skippingDamage(),
                    clock,
                    folder.deadLettersMemory());
            if (!settledWereThere && settled.damagedFile() == null && log.firstId() <= log.lastId()) {
                logger.warn(
                        "settled ids are gone, everything will be delivered again: pipe={}, file={}, events={} to {}",
                        folder.name(),
                        folder.settledFile(StoredSubscriptions.DEFAULT),
                        log.firstId(),
                        log.lastId());
            }
            return new PipeStore(folder, config, log, deadLetterLog, handled, subscriptions);
        } catch (RuntimeException e) {
            log.close();
            throw e;
        }
    }

    private static FoundSubscriptions find(PipeFolder folder, long maxAckSpread) {
        try {
            return new FoundSubscriptions(folder, maxAckSpread);
        } catch (IOException e) {
            throw SmallFile.failure("subscriptions cannot be opened", folder.subscriptionsFolder(), e);
        }
    }

    /** Whose files these are. */
    public PipeFolder folder() {
        return folder;
    }

    public long epoch() {
        return folder.epoch();
    }

    public PipeSettings settings() {
        return folder.settings();
    }

    /** How this pipe is stored. */
    public StoreConfig config() {
        return config;
    }

    public EventLog log() {
        return log;
    }

    public EventLog deadLetterLog() {
        return deadLetterLog;
    }

    /** Which dead letters are done with. */
    public HandledLetters handledLetters() {
        return handledLetters;
    }

    public StoredSubscriptions subscriptions() {
        return subscriptions;
    }

    /** The ring of {@code default}, which is the pipe's own as well. */
    public SettledIds settled() {
        return subscriptions.own().settled();
    }

    public AttemptJournal attempts() {
        return subscriptions.own().attempts();
    }

    /** Bytes of the log and the dead letters. */
    public long diskBytes() {
        return log.diskBytes() + deadLetterLog.diskBytes();
    }

    private record FolderIdMark(PipeFolder folder) implements IdMark {
        @Override
        public long value() {
            return folder.idMark();
        }

        @Override
        public void raiseTo(long id) {
            folder.raiseIdMark(id);
        }

        @Override
        public void checkIsOurs() {
            folder.checkIsOurs();
        }
    }

    /**
     * Closes the files of a pipe that has nothing to do and has had no failure: the next open in this process finds them as they
     * are, and goes on where the logs end. I/O thread.
     */
    public void closeInOrder() {
        subscriptions.finish(false);
        subscriptions.closeRings();
        handledLetters.close();
        try {
            folder.eventsMemory().closeInOrder();
        } finally {
            folder.deadLettersMemory().closeInOrder();
        }
    }

    /** Closes the files, also after a failure. */
    @Override
    public void close() {
        try (log;
                deadLetterLog) {
            subscriptions.finish(true);
        }
    }
}
