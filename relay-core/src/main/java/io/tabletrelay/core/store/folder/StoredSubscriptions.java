package io.tabletrelay.core.store.folder;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.core.store.ForceFailedException;
import io.tabletrelay.core.store.SmallFile;
import io.tabletrelay.core.store.StoreException;
import io.tabletrelay.core.store.acks.AttemptJournal;
import io.tabletrelay.core.store.acks.SettledIds;
import io.tabletrelay.core.store.folder.SubscriptionRecord.State;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A pipe's subscriptions on disk. Each has a record, which alone says that it exists, a ring and a journal; a change of the record is the
 * step at which a change counts, and the open finishes what was begun.
 *
 * <p>The ring of {@code default} is the pipe's own as well, so it is always there: it says how far the log was shown to anybody, and from
 * which id on nothing was deleted. The subscription {@code default} exists if its record says so or, in pipes from before there
 * were records, if something in its ring was delivered or settled.
 *
 * <p>Threading: used by I/O threads, one at a time.
 */
public final class StoredSubscriptions {
    static final String DEFAULT = "default";

    private final PipeFolder folder;
    private final long maxSpreadIds;
    private final boolean onDisk;
    private final Map<String, SubscriptionFiles> existing = new LinkedHashMap<>();
    /** What the ring of {@code default} is in: the subscription's, or the pipe's alone. */
    private SubscriptionFiles own;

    private boolean ownHasRecord;

    StoredSubscriptions(PipeFolder folder, long maxSpreadIds, boolean onDisk, FoundSubscriptions found) {
        this.folder = folder;
        this.maxSpreadIds = maxSpreadIds;
        this.onDisk = onDisk;
        this.own = found.own();
        this.ownHasRecord = found.ownHasRecord();
        found.existing().forEach(files -> existing.put(files.name(), files));
        if (onDisk) {
            all().forEach(files -> files.settled().keepOnDisk());
        }
    }

    /** Those that exist. */
    public List<SubscriptionFiles> existing() {
        return List.copyOf(existing.values());
    }

    /** The files of {@code default}, which exist whether the subscription does or not. */
    public SubscriptionFiles own() {
        return own;
    }

    /**
     * Makes a subscription; on disk when this returns.
     *
     * @param start its first event: all below counts as settled
     * @param lettersBefore the newest dead letter
     * @throws StoreException if that cannot be; there is none then
     */
    public SubscriptionFiles create(String name, long start, long nowMillis, long lettersBefore) {
        if (existing.containsKey(name)) {
            throw new IllegalArgumentException("subscription is there: name=" + name);
        }
        SubscriptionRecord record = new SubscriptionRecord(name, nowMillis, start, lettersBefore, State.LIVE);
        Path recordFile = folder.subscriptionFile(name);
        try {
            SubscriptionFiles created = files(record, newRing(record));
            record.write(recordFile);
            return put(created);
        } catch (IOException e) {
            SmallFile.deleteQuietly(recordFile, e);
            throw ForceFailedException.unlessFull("subscription cannot be created", recordFile, e);
        }
    }

    /**
     * Takes up {@code default} as it is though its record cannot be written now: once something was delivered its ring says that it
     * exists.
     */
    public SubscriptionFiles createWithoutRecord(long nowMillis) {
        return put(new SubscriptionFiles(
                DEFAULT, nowMillis, own.settled().settledBelow(), 0, own.settled(), own.attempts()));
    }

    /** True: {@link #createWithoutRecord} would do for a subscription with that start. */
    public boolean needsNoRecord(String name, long start) {
        return name.equals(DEFAULT) && !ownHasRecord && isUnused(own.settled(), start);
    }

    private SettledIds newRing(SubscriptionRecord record) throws IOException {
        boolean isDefault = record.name().equals(DEFAULT);
        if (isDefault && isUnused(own.settled(), record.start())) {
            return own.settled();
        }
        if (isDefault) {
            hideOwn(); // or a new ring alone would say that the subscription exists
        }
        Files.createDirectories(SmallFile.parent(folder.settledFile(record.name())));
        Files.deleteIfExists(folder.attemptsFile(record.name()));
        long appendedUpTo = isDefault ? own.settled().appendedUpTo() : 0;
        return anew(record, appendedUpTo);
    }

    private static boolean isUnused(SettledIds ring, long start) {
        return ring.settledBelow() == start && ring.deliveredUpTo() < start;
    }

    private SettledIds anew(SubscriptionRecord record, long appendedUpTo) throws IOException {
        SettledIds ring =
                SettledIds.anew(folder.settledFile(record.name()), record.start(), appendedUpTo, maxSpreadIds);
        if (onDisk) {
            ring.keepOnDisk();
        }
        return ring;
    }

    /**
     * Begins the subscription anew; on disk when this returns. Whatever throws but STORAGE_FULL leaves it to the next open to say what it
     * is: the pipe must be opened again.
     *
     * @throws StoreException with STORAGE_FULL: nothing has changed
     */
    public SubscriptionFiles reset(String name, long start, long lettersBefore) {
        SubscriptionFiles before = found(name);
        SubscriptionRecord record =
                new SubscriptionRecord(name, before.createdMillis(), start, lettersBefore, State.RESET);
        change(record);
        try {
            return put(finishReset(folder, record, before.settled().appendedUpTo(), this::anew));
        } catch (IOException e) {
            throw undecided("subscription cannot be reset", folder.subscriptionFile(name), e);
        }
    }

    /** Makes the ring of a subscription that is being reset; given again to an open that finds it half done. */
    interface RingMaker {
        SettledIds make(SubscriptionRecord record, long appendedUpTo) throws IOException;
    }

    static SubscriptionFiles finishReset(
            PipeFolder folder, SubscriptionRecord record, long appendedUpTo, RingMaker rings) throws IOException {
        Files.deleteIfExists(folder.attemptsFile(record.name()));
        SettledIds ring = rings.make(record, appendedUpTo);
        record.in(State.LIVE).write(folder.subscriptionFile(record.name()));
        return SubscriptionFiles.of(record, ring, AttemptJournal.open(folder.attemptsFile(record.name())));
    }

    /**
     * Deletes the subscription; on disk when this returns. It throws as {@link #reset} does.
     *
     * @param firstKeptId lowest id that the log still has
     */
    public void delete(String name, long firstKeptId) {
        SubscriptionFiles before = found(name);
        SubscriptionRecord record = new SubscriptionRecord(name, before.createdMillis(), firstKeptId, 0, State.GONE);
        change(record);
        existing.remove(name);
        try {
            if (name.equals(DEFAULT)) {
                ownHasRecord = true;
                Files.deleteIfExists(folder.attemptsFile(name));
                own = files(record, anew(record, before.settled().appendedUpTo()));
            } else {
                clear(folder, name);
            }
        } catch (IOException e) {
            throw undecided("what is left of a subscription cannot be deleted", folder.subscriptionFile(name), e);
        }
    }

    /** Deletes the files of one that is gone, its record last. */
    static void clear(PipeFolder folder, String name) throws IOException {
        Files.deleteIfExists(folder.settledFile(name));
        Files.deleteIfExists(folder.attemptsFile(name));
        Files.deleteIfExists(folder.subscriptionFile(name));
    }

    /**
     * Every id below this one is settled for ever, for each that exists and for the pipe; on disk when this returns.
     *
     * @throws StoreException if the disk refuses
     */
    public void settleBelow(long id) {
        if (!existing.containsKey(DEFAULT)) {
            try {
                hideOwn();
            } catch (IOException e) {
                throw SmallFile.failure("settled ids cannot be forced to disk", folder.subscriptionFile(DEFAULT), e);
            }
            own.settled().settleBelow(id);
        }
        existing.values().forEach(files -> files.settled().settleBelow(id));
    }

    /** The ring of {@code default} may say that something is settled, and the subscription exist no more for that. */
    private void hideOwn() throws IOException {
        if (!ownHasRecord) {
            new SubscriptionRecord(DEFAULT, 0, own.start(), 0, State.GONE).write(folder.subscriptionFile(DEFAULT));
            ownHasRecord = true;
        }
    }

    /** Brings to disk what is not there yet, as far as it goes; throws what went wrong first. */
    void finish(boolean forced) {
        RuntimeException first = null;
        for (SubscriptionFiles files : all()) {
            try {
                if (forced && files.settled().wantsForce()) {
                    files.settled().startForce().run();
                }
                files.attempts().flush();
            } catch (RuntimeException e) {
                first = first == null ? e : first;
            }
        }
        if (first != null) {
            throw first;
        }
    }

    /** Gives back the memory of the rings; nothing else may be called afterwards. */
    void closeRings() {
        all().forEach(files -> files.settled().close());
    }

    private List<SubscriptionFiles> all() {
        List<SubscriptionFiles> all = new ArrayList<>(existing.values());
        if (!existing.containsKey(DEFAULT)) {
            all.add(own);
        }
        return all;
    }

    private SubscriptionFiles put(SubscriptionFiles files) {
        existing.put(files.name(), files);
        if (files.name().equals(DEFAULT)) {
            own = files;
            ownHasRecord = Files.exists(folder.subscriptionFile(DEFAULT));
        }
        return files;
    }

    private SubscriptionFiles files(SubscriptionRecord record, SettledIds ring) {
        return SubscriptionFiles.of(record, ring, AttemptJournal.open(folder.attemptsFile(record.name())));
    }

    private SubscriptionFiles found(String name) {
        SubscriptionFiles found = existing.get(name);
        if (found == null) {
            throw new IllegalArgumentException("no such subscription: name=" + name);
        }
        return found;
    }

    private void change(SubscriptionRecord record) {
        Path file = folder.subscriptionFile(record.name());
        try {
            record.write(file);
        } catch (IOException e) {
            throw ForceFailedException.unlessFull("subscription cannot be changed", file, e);
        }
    }

    /** It is on disk that the change is to be made, so a full disk is no excuse. */
    private static StoreException undecided(String what, Path file, IOException cause) {
        return new StoreException(
                ErrorCode.PIPE_FAILED, SmallFile.failure(what, file, cause).reason(), cause);
    }
}
