package io.tabletrelay.core.store.folder;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.PipeSettings;
import io.tabletrelay.core.store.SmallFile;
import io.tabletrelay.core.store.StoreException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The relay's data directory: the lock on it, and the folder of each pipe.
 *
 * <pre>
 * relay.lock                      one relay per data directory; the holder's pid
 * pipes/&lt;encoded name&gt;/          a pipe
 * tombstones/&lt;encoded name&gt;.json what a deleted pipe leaves: a later pipe of that name continues above it
 * deleted/                        folders of deleted pipes on their way out
 * </pre>
 *
 * <p>A deletion is decided by its tombstone: a pipe whose epoch is not above its tombstone's is deleted, whether or not its
 * folder has gone yet. Killed before the tombstone has its name: the pipe is as it was. After that: the next open moves the
 * folder to {@code deleted/}, in one step, and empties that.
 *
 * <p>Threading: thread-safe, one operation per pipe at a time; all but {@link #exists} may block on the disk.
 */
public final class DataDirectory implements AutoCloseable {
    private final Path root;
    private final DirectoryLock lock;
    private final InstantSource clock;
    private final SecureRandom salts = new SecureRandom();
    private final String bootId;
    private final ConcurrentMap<PipeName, PipeFolder> loaded = new ConcurrentHashMap<>();
    /** Of pipes that nobody has used yet, so that no list reads them twice; those that are loaded know it themselves. */
    private final ConcurrentMap<PipeName, LifeCycle> lifeCycles = new ConcurrentHashMap<>();

    private DataDirectory(Path root, DirectoryLock lock, InstantSource clock, String bootId) {
        this.root = root;
        this.lock = lock;
        this.clock = clock;
        this.bootId = bootId;
    }

    /**
     * Takes the directory, created if need be, and finishes what a crash left undone.
     *
     * @param bootId names the run of the operating system, see {@link BootId#current}
     * @throws StoreException with CANNOT_START if it is in use or cannot be used
     */
    public static DataDirectory open(Path path, InstantSource clock, Supplier<String> bootId) {
        if (Files.exists(path) && !Files.isDirectory(path)) {
            throw unusable(path, "it is not a directory", null);
        }
        try {
            Path root = Files.createDirectories(path).toRealPath();
            DirectoryLock lock = DirectoryLock.acquire(root);
            DataDirectory directory = new DataDirectory(root, lock, clock, bootId.get());
            try {
                directory.prepare();
                return directory;
            } catch (IOException | RuntimeException e) {
                lock.close();
                throw e;
            }
        } catch (IOException e) {
            throw unusable(path, e.getClass().getSimpleName() + " " + e.getMessage(), e);
        }
    }

    private static StoreException unusable(Path path, String reason, @Nullable Exception cause) {
        return new StoreException(
                ErrorCode.CANNOT_START,
                "data directory cannot be used: path=" + path + ", reason=" + reason
                        + "; name a directory that this user can write",
                cause);
    }

    private void prepare() throws IOException {
        for (String name : List.of("pipes", "tombstones", "deleted")) {
            SmallFile.createDirectory(root.resolve(name));
        }
        for (Path tombstone : list(root.resolve("tombstones"))) {
            if (tombstone.toString().endsWith(".tmp")) {
                Files.delete(tombstone);
            } else {
                finishDeletion(tombstone);
            }
        }
        for (Path folder : list(root.resolve("deleted"))) {
            deleteTree(folder);
        }
    }

    private void finishDeletion(Path tombstone) throws IOException {
        String fileName = tombstone.getFileName().toString();
        Path folder = root.resolve("pipes").resolve(fileName.substring(0, fileName.lastIndexOf('.')));
        if (PipeFolder.holdsPipe(folder) && isDeleted(folder, tombstone)) {
            moveToDeleted(folder);
        }
    }

    /** A pair that cannot be read decides nothing here: opening that pipe says what is wrong with it. */
    private static boolean isDeleted(Path folder, Path tombstone) {
        try {
            return PipeFolder.read(folder).epoch() <= PipeRecord.read(tombstone).epoch();
        } catch (IOException | StoreException e) {
            return false;
        }
    }

    /** All pipes, also those whose pipe.json is damaged, unless only that file knew the name. */
    public List<PipeName> pipes() {
        try {
            List<PipeName> names = new ArrayList<>();
            for (Path folder : list(root.resolve("pipes"))) {
                PipeName name = PipeFolder.holdsPipe(folder) ? nameOf(folder) : null;
                if (name != null) {
                    names.add(name);
                }
            }
            return names;
        } catch (IOException e) {
            throw SmallFile.failure("pipes cannot be listed", root, e);
        }
    }

    private static @Nullable PipeName nameOf(Path folder) {
        String decoded = DiskName.decode(folder.getFileName().toString());
        try {
            return new PipeName(decoded == null ? PipeFolder.read(folder).name() : decoded);
        } catch (RelayException e) {
            return null;
        }
    }

    public boolean exists(PipeName name) {
        return loaded.containsKey(name) || PipeFolder.holdsPipe(folder(name));
    }

    /**
     * Loads the pipe's folder, or creates it; the same one at each call, until the pipe is deleted.
     *
     * @throws StoreException with PIPE_FAILED if it is damaged, STORAGE_FULL if it cannot be created on a full disk
     */
    public PipeFolder pipe(PipeName name) {
        return loaded.computeIfAbsent(name, absent -> loadOrCreate(absent, PipeSettings.NONE, new AtomicBoolean()));
    }

    /**
     * Creates a pipe, which is on disk when this returns. Returns false if it was there, with settings that mean the same.
     *
     * @throws StoreException with PIPE_EXISTS if it was there with others, and else as {@link #pipe} does
     */
    public boolean create(PipeName name, PipeSettings settings) {
        AtomicBoolean created = new AtomicBoolean();
        PipeFolder folder = loaded.computeIfAbsent(name, absent -> loadOrCreate(absent, settings, created));
        if (!folder.settings().meansTheSameAs(settings)) {
            throw new StoreException(
                    ErrorCode.PIPE_EXISTS,
                    "pipe exists with other settings: pipe=" + name + ", settings="
                            + folder.settings().values() + ", asked=" + settings.values()
                            + "; settings never change, use another name");
        }
        return created.get();
    }

    /** The pipe's settings, none if there is no such pipe; does not create it. */
    public PipeSettings settings(PipeName name) {
        PipeFolder folder = loaded.get(name);
        if (folder != null) {
            return folder.settings();
        }
        return PipeFolder.holdsPipe(folder(name))
                ? PipeFolder.read(folder(name)).settings()
                : PipeSettings.NONE;
    }

    /**
     * Where that pipe stands in its life; does not create it. Reads a small file the first time.
     *
     * @throws StoreException with PIPE_FAILED if that is damaged or missing
     */
    public LifeCycle lifeCycle(PipeName name) {
        PipeFolder folder = loaded.get(name);
        return folder != null
                ? folder.lifeCycle()
                : lifeCycles.computeIfAbsent(
                        name, unread -> PipeFolder.read(folder(unread)).lifeCycle());
    }

    private PipeFolder loadOrCreate(PipeName name, PipeSettings settings, AtomicBoolean created) {
        Path folder = folder(name);
        lock.checkKeepsOthersOut();
        try {
            finishDeletion(tombstone(name));
        } catch (IOException e) {
            throw SmallFile.failure("pipe cannot be deleted", folder, e);
        }
        if (PipeFolder.holdsPipe(folder)) {
            return PipeFolder.load(folder, name, bootId, lock::checkKeepsOthersOut);
        }
        long now = clock.millis();
        PipeRecord before = tombstoneOf(name);
        long epoch = before == null ? Math.max(1, now) : before.epoch() + 1;
        long idMark = before == null ? 0 : before.idMark();
        PipeFolder pipe = PipeFolder.create(
                folder,
                new PipeRecord(
                        name.value(),
                        epoch,
                        salts.nextLong(),
                        now,
                        LifeCycle.NEW,
                        idMark + 1,
                        idMark,
                        bootId,
                        settings),
                lock::checkKeepsOthersOut);
        created.set(true);
        return pipe;
    }

    private @Nullable PipeRecord tombstoneOf(PipeName name) {
        Path tombstone = tombstone(name);
        if (!Files.exists(tombstone)) {
            return null;
        }
        try {
            return PipeRecord.read(tombstone);
        } catch (IOException e) {
            throw new StoreException(
                    ErrorCode.PIPE_FAILED,
                    "pipe cannot be created: tombstone=" + tombstone + ", reason=" + e.getMessage()
                            + "; restore that file, or use another name: without it ids could be given out again",
                    e);
        }
    }

    /**
     * Deletes a pipe whose files nobody uses any more. When this returns it is gone, on disk too; if it throws, the next
     * {@link #pipe} finds it as it was, or begins it anew.
     *
     * @throws StoreException with NO_SUCH_PIPE if there is none
     */
    public void delete(PipeName name) {
        AtomicReference<@Nullable RuntimeException> failure = new AtomicReference<>();
        loaded.compute(name, (deleted, folder) -> { // nobody makes it anew meanwhile
            lifeCycles.remove(name);
            try {
                deleteFolder(name);
            } catch (RuntimeException e) {
                failure.set(e);
            }
            return null;
        });
        RuntimeException why = failure.get();
        if (why != null) {
            throw why;
        }
    }

    private void deleteFolder(PipeName name) {
        if (!PipeFolder.holdsPipe(folder(name))) {
            throw new StoreException(
                    ErrorCode.NO_SUCH_PIPE, "pipe cannot be deleted: pipe=" + name + "; there is no such pipe");
        }
        PipeRecord last = PipeFolder.read(folder(name));
        try {
            last.write(tombstone(name));
            deleteTree(moveToDeleted(folder(name)));
        } catch (IOException e) {
            throw SmallFile.failure("pipe cannot be deleted", folder(name), e);
        }
    }

    private Path moveToDeleted(Path folder) throws IOException {
        Path target = root.resolve("deleted").resolve(folder.getFileName());
        if (Files.exists(target)) {
            deleteTree(target);
        }
        SmallFile.moveIntoPlace(folder, target);
        SmallFile.forceDirectory(SmallFile.parent(folder));
        return target;
    }

    private Path folder(PipeName name) {
        return root.resolve("pipes").resolve(DiskName.of(name.value()));
    }

    private Path tombstone(PipeName name) {
        return root.resolve("tombstones").resolve(DiskName.of(name.value()) + ".json");
    }

    private static List<Path> list(Path folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.sorted().toList();
        }
    }

    private static void deleteTree(Path folder) throws IOException {
        try (Stream<Path> entries = Files.walk(folder)) {
            for (Path entry : entries.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(entry);
            }
        }
    }

    /** Lets another relay have the directory. */
    @Override
    public void close() {
        try {
            lock.close();
        } catch (IOException e) {
            throw SmallFile.failure("data directory cannot be released", root, e);
        }
    }
}
