package io.tabletrelay.core.store.folder;

import io.tabletrelay.core.store.StoreException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A data directory while no relay uses it, to be looked at: nothing in it is changed.
 *
 * <p>Threading: immutable.
 */
public final class StillDirectory implements AutoCloseable {
    private final Path root;
    private final DirectoryLock lock;

    /**
     * A folder in pipes/.
     *
     * <p>Threading: immutable.
     *
     * @param name as far as the folder's name or its files tell it, else the folder's name
     * @param record what pipe.json says; if it is damaged, what it was when the pipe was made; null if nothing says it
     * @param problem what is wrong with pipe.json; empty if nothing is
     */
    public record Pipe(Path path, String name, @Nullable PipeRecord record, String problem) {
        /** False: the machine was started anew since the pipe was used, and its log may have lost its tail. */
        public boolean isOfThisBoot() {
            return record != null && record.bootId().equals(BootId.current());
        }

        /** What is wrong with pipe.born; empty if nothing is. Pipes of before there was a salt have none. */
        public String problemOfBirth() {
            Path file = path.resolve(PipeFolder.BIRTH_NAME);
            try {
                if (!Files.exists(file)) {
                    return record != null && record.salt() == 0 ? "" : "it is missing";
                }
                PipeRecord born = PipeRecord.read(file);
                boolean isOfThisPipe = record == null
                        || (born.name().equals(record.name())
                                && born.epoch() == record.epoch()
                                && born.salt() == record.salt());
                return isOfThisPipe ? "" : "it is of another pipe: name=" + born.name() + ", epoch=" + born.epoch();
            } catch (IOException e) {
                return String.valueOf(e.getMessage());
            }
        }

        /** The pipe's files; throws if nothing says which pipe it is. */
        public PipeFolder folder() {
            if (record == null) {
                throw new IllegalStateException("nothing is known of the pipe: folder=" + path);
            }
            return PipeFolder.still(path, record);
        }
    }

    private StillDirectory(Path root, DirectoryLock lock) {
        this.root = root;
        this.lock = lock;
    }

    /**
     * Keeps relays out of the directory until it is closed.
     *
     * @throws StoreException with CANNOT_START if a relay uses it
     * @throws IOException if it is no data directory, or cannot be read
     */
    public static StillDirectory open(Path path) throws IOException {
        if (!Files.isDirectory(path.resolve("pipes"))) {
            throw new IOException("not a data directory: path=" + path + "; name the folder that has pipes/ in it");
        }
        Path root = path.toRealPath();
        return new StillDirectory(root, DirectoryLock.share(root));
    }

    public Path root() {
        return root;
    }

    /** All pipes' folders, in the order of their names on disk. */
    public List<Pipe> pipes() throws IOException {
        List<Pipe> pipes = new ArrayList<>();
        for (Path folder : list("pipes")) {
            if (PipeFolder.holdsPipe(folder)) {
                pipes.add(pipe(folder));
            }
        }
        return pipes;
    }

    /** What deleted pipes left. */
    public List<Path> tombstones() throws IOException {
        return list("tombstones");
    }

    /** Folders of deleted pipes that the next start of a relay removes. */
    public List<Path> deleted() throws IOException {
        return list("deleted");
    }

    /** What is wrong with a tombstone; empty if nothing is. */
    public static String problemOf(Path tombstone) {
        try {
            PipeRecord.read(tombstone);
            return "";
        } catch (IOException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /** What is wrong with relay.lock; empty if nothing is. Read through the lock's own handle: another one would end the lock. */
    public String problemOfLock() throws IOException {
        return lock.namesAProcess() ? "" : "it names no process: the next start of a relay writes it anew";
    }

    @Override
    public void close() throws IOException {
        lock.close();
    }

    private static Pipe pipe(Path folder) {
        String onDisk = String.valueOf(folder.getFileName());
        String decoded = DiskName.decode(onDisk);
        try {
            PipeRecord record = PipeFolder.read(folder);
            if (!DiskName.of(record.name()).equals(onDisk)) {
                throw PipeFolder.broken(folder, new IOException("it is of another pipe, '" + record.name() + "'"));
            }
            return new Pipe(folder, record.name(), record, "");
        } catch (StoreException e) {
            PipeRecord born = born(folder, onDisk);
            String name = decoded != null ? decoded : born != null ? born.name() : onDisk;
            String reason = e.getCause() == null
                    ? e.reason()
                    : String.valueOf(e.getCause().getMessage());
            return new Pipe(folder, name, born, "pipe.json cannot be used: " + reason);
        }
    }

    private static @Nullable PipeRecord born(Path folder, String onDisk) {
        try {
            PipeRecord born = PipeRecord.read(folder.resolve(PipeFolder.BIRTH_NAME));
            return DiskName.of(born.name()).equals(onDisk) ? born : null;
        } catch (IOException e) {
            return null;
        }
    }

    private List<Path> list(String name) throws IOException {
        Path folder = root.resolve(name);
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.sorted().toList();
        }
    }
}
