package io.tabletrelay.core.store.folder;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.core.config.PipeSettings;
import io.tabletrelay.core.store.ForceFailedException;
import io.tabletrelay.core.store.SmallFile;
import io.tabletrelay.core.store.StoreException;
import io.tabletrelay.core.store.log.LogMemory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * One pipe's folder: where its files are, and what pipe.json says of it.
 *
 * <p>Threading: thread-safe; a change is made under the folder's monitor and is on disk before anyone sees it.
 */
public final class PipeFolder {
    static final String FILE_NAME = "pipe.json";
    /** What pipe.json was when the pipe was made: without its salt no event could be told from garbage. */
    static final String BIRTH_NAME = "pipe.born";

    private final Path folder;
    private final boolean bootChanged;
    private final Runnable checkOwnership;
    private final LogMemory events = new LogMemory();
    private final LogMemory deadLetters = new LogMemory();
    private volatile PipeRecord pipe;

    private PipeFolder(Path folder, PipeRecord pipe, boolean bootChanged, Runnable checkOwnership) {
        this.folder = folder;
        this.pipe = pipe;
        this.bootChanged = bootChanged;
        this.checkOwnership = checkOwnership;
    }

    /**
     * Its parent must exist. When this returns the pipe is on disk; if it throws there is none, unless not even pipe.json can be
     * deleted. All names are forced last, together.
     *
     * @param checkOwnership throws StoreException if another relay may use the folder too
     */
    static PipeFolder create(Path folder, PipeRecord pipe, Runnable checkOwnership) {
        try {
            Files.createDirectories(folder);
            pipe.put(folder.resolve(BIRTH_NAME));
            pipe.put(folder.resolve(FILE_NAME));
            SmallFile.forceDirectory(folder);
            SmallFile.forceDirectory(SmallFile.parent(folder));
            return new PipeFolder(folder, pipe, false, checkOwnership);
        } catch (IOException e) {
            SmallFile.deleteQuietly(folder.resolve(FILE_NAME), e);
            throw SmallFile.failure("pipe cannot be created", folder, e);
        }
    }

    static PipeFolder load(Path folder, PipeName name, String bootId, Runnable checkOwnership) {
        PipeRecord stored = read(folder);
        if (!stored.name().equals(name.value())) {
            throw broken(folder, new IOException("it is of another pipe, '" + stored.name() + "'"));
        }
        try {
            Files.deleteIfExists(SmallFile.temp(folder.resolve(FILE_NAME)));
        } catch (IOException e) {
            throw SmallFile.failure("what a crash left cannot be deleted", folder, e);
        }
        return new PipeFolder(folder, stored.inBoot(bootId), !stored.bootId().equals(bootId), checkOwnership);
    }

    /**
     * The folder may have been deleted under the relay: a pipe of the same name would begin anew where ids were given.
     *
     * @throws StoreException if pipe.json is gone
     */
    void checkIsThere() {
        if (!Files.exists(folder.resolve(FILE_NAME))) {
            throw new StoreException(
                    ErrorCode.PIPE_FAILED,
                    "pipe cannot be opened: folder=" + folder + ", " + FILE_NAME
                            + " is gone; restore the folder, or restart the relay to begin the pipe anew");
        }
    }

    /** Throws StoreException if another relay may use the folder too, and so give the same ids. */
    void checkIsOurs() {
        checkOwnership.run();
    }

    /** A folder of a data directory that nobody changes; nothing is read and nothing is cleared away. */
    static PipeFolder still(Path folder, PipeRecord pipe) {
        return new PipeFolder(folder, pipe, false, () -> {});
    }

    static PipeRecord read(Path folder) {
        try {
            if (!Files.exists(folder.resolve(FILE_NAME))) {
                throw new IOException("it is missing");
            }
            return PipeRecord.read(folder.resolve(FILE_NAME));
        } catch (IOException e) {
            throw broken(folder, e);
        }
    }

    static StoreException broken(Path folder, IOException cause) {
        return new StoreException(
                ErrorCode.PIPE_FAILED,
                "pipe cannot be opened: folder=" + folder + ", file=" + FILE_NAME + ", reason=" + cause.getMessage()
                        + "; restore that file, or repair a copy of the data directory with relay check-data --repair",
                cause);
    }

    /** A folder with no pipe.json and no folder in it is what a killed creation leaves. */
    static boolean holdsPipe(Path folder) {
        if (Files.exists(folder.resolve(FILE_NAME))) {
            return true;
        }
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.anyMatch(Files::isDirectory);
        } catch (IOException e) {
            return false;
        }
    }

    public PipeName name() {
        return new PipeName(pipe.name());
    }

    /** Which pipe of that name this is: a pipe created after a deletion has a higher epoch. */
    public long epoch() {
        return pipe.epoch();
    }

    /** What the checksums of the pipe's events begin with. */
    public long salt() {
        return pipe.salt();
    }

    /** When the pipe was created, ms since the epoch. */
    public long createdMillis() {
        return pipe.createdMillis();
    }

    /** As it is stored. */
    public LifeCycle lifeCycle() {
        return pipe.lifeCycle();
    }

    /**
     * Changes the state; on disk when this returns, and unless it is all is as it was. I/O thread.
     *
     * @param change makes the next state out of the stored one, and throws what refuses it
     */
    public synchronized void change(UnaryOperator<LifeCycle> change) {
        LifeCycle next = change.apply(pipe.lifeCycle());
        if (next.equals(pipe.lifeCycle())) {
            return;
        }
        PipeRecord changed = pipe.withLifeCycle(next);
        try {
            changed.write(folder.resolve(FILE_NAME));
        } catch (IOException e) {
            throw SmallFile.failure("pipe's state cannot be stored", folder, e);
        }
        pipe = changed;
    }

    /** What was chosen when the pipe was made; never changes. */
    public PipeSettings settings() {
        return pipe.settings();
    }

    /**
     * The lowest id that may be given out now, unless the log goes on further. Ids below it that are not in the log are
     * void: they were a deleted pipe's, or a power cut may have taken their events.
     */
    public long firstFreeId() {
        return pipe.firstFreeId();
    }

    /** The high-water mark: no id above it was ever given out. */
    public long idMark() {
        return pipe.idMark();
    }

    /**
     * Raises the mark; on disk when this returns, and only then may ids up to it be given out. I/O thread.
     *
     * @throws StoreException with STORAGE_FULL if the disk is full, a {@link ForceFailedException} if it refuses otherwise; the
     *     mark is as it was
     */
    public synchronized void raiseIdMark(long mark) {
        if (mark <= pipe.idMark()) {
            return;
        }
        checkIsOurs();
        PipeRecord raised = pipe.withIdMark(mark);
        try {
            raised.write(folder.resolve(FILE_NAME));
        } catch (IOException e) {
            throw ForceFailedException.unlessFull("id mark cannot be raised", folder, e);
        }
        pipe = raised;
    }

    /** True: the machine was down since the mark was last raised, so {@link #firstFreeId} stands above that mark. */
    public boolean bootChanged() {
        return bootChanged;
    }

    /** The pipe's folder itself; it exists. */
    public Path path() {
        return folder;
    }

    /** Folder of the log; created by who uses it first. */
    public Path eventsFolder() {
        return folder.resolve("events");
    }

    /** Folder of the dead letters; created by who uses it first. */
    public Path deadLettersFolder() {
        return folder.resolve("dead-letters");
    }

    /** Says which dead letters were redriven or purged; not there before the first. */
    public Path handledLettersFile() {
        return folder.resolve(HandledLetters.RING_NAME);
    }

    /** Says what a redrive is about to append; there while one is under way. */
    public Path redriveFile() {
        return folder.resolve(HandledLetters.REDRIVE_NAME);
    }

    /** What this process knows of the log, open or not. */
    LogMemory eventsMemory() {
        return events;
    }

    /** What this process knows of the log of dead letters. */
    LogMemory deadLettersMemory() {
        return deadLetters;
    }

    public Path settledFile(String subscription) {
        return subscriptionFile(subscription, ".settled");
    }

    public Path attemptsFile(String subscription) {
        return subscriptionFile(subscription, ".attempts");
    }

    /** Says that the subscription exists, and what it is. */
    public Path subscriptionFile(String subscription) {
        return subscriptionFile(subscription, ".json");
    }

    /** Folder of the subscriptions' files; created by who uses it first. */
    public Path subscriptionsFolder() {
        return folder.resolve("subscriptions");
    }

    /** The subscriptions' files of that kind, in the order of their names. */
    public List<Path> subscriptionFiles(Kind kind) throws IOException {
        if (!Files.isDirectory(subscriptionsFolder())) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(subscriptionsFolder())) {
            return files.filter(file -> file.toString().endsWith(kind.suffix))
                    .sorted()
                    .toList();
        }
    }

    /** What a subscription's file is. */
    public enum Kind {
        RECORD(SubscriptionRecord.FILE_SUFFIX),
        RING(".settled"),
        ATTEMPTS(".attempts");

        private final String suffix;

        Kind(String suffix) {
            this.suffix = suffix;
        }

        /** The file of another kind beside this one. */
        public Path beside(Path file, Kind ofFile) {
            String name = String.valueOf(file.getFileName());
            return file.resolveSibling(name.substring(0, name.length() - ofFile.suffix.length()) + suffix);
        }
    }

    private Path subscriptionFile(String subscription, String suffix) {
        return subscriptionsFolder().resolve(DiskName.of(subscription) + suffix);
    }
}
