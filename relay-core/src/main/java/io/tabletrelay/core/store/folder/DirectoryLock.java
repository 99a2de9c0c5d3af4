package io.tabletrelay.core.store.folder;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.core.store.SmallFile;
import io.tabletrelay.core.store.StoreException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The right to be the one relay on a data directory: the operating system's lock on relay.lock, which dies with the process.
 *
 * <p>Such a lock is lost as soon as any handle to the file is closed in this process. So the folders that this process holds
 * are known to it, and the file of a held one is never opened again.
 *
 * <p>Threading: thread-safe, by the set of held folders.
 */
final class DirectoryLock implements AutoCloseable {
    private static final String NAME = "relay.lock";
    private static final Set<Path> HELD_IN_THIS_PROCESS = ConcurrentHashMap.newKeySet();
    /** Behind the pid, which others may then read wherever locks are mandatory. */
    private static final long LOCKED_BYTE = 1L << 30;

    private static final int MOST_PID_BYTES = 32;

    private final Path folder;
    private final FileChannel channel;
    /** Tells the locked file from another one of its name; null where the file system cannot. */
    private final @Nullable Object fileKey;

    private boolean released;

    private DirectoryLock(Path folder, FileChannel channel) throws IOException {
        this.folder = folder;
        this.channel = channel;
        this.fileKey = fileKey(folder);
    }

    /** The folder is given by its real path. */
    static DirectoryLock acquire(Path folder) throws IOException {
        if (!HELD_IN_THIS_PROCESS.add(folder)) {
            throw inUse(folder, String.valueOf(ProcessHandle.current().pid()));
        }
        FileChannel channel = null;
        boolean acquired = false;
        try {
            channel = FileChannel.open(
                    folder.resolve(NAME), StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
            if (tryLock(channel, false) == null) {
                throw inUse(folder, readPid(channel));
            }
            writePid(channel);
            acquired = true;
            return new DirectoryLock(folder, channel);
        } finally {
            if (!acquired) {
                release(folder, channel);
            }
        }
    }

    /**
     * Keeps relays out and writes nothing; others may share it. Without a relay.lock nothing could keep them out, and one whose
     * file was deleted may be at work.
     */
    static DirectoryLock share(Path folder) throws IOException {
        Path file = folder.resolve(NAME);
        if (!HELD_IN_THIS_PROCESS.add(folder)) {
            throw inUse(folder, String.valueOf(ProcessHandle.current().pid()));
        }
        FileChannel channel = null;
        boolean acquired = false;
        try {
            if (!Files.exists(file)) {
                throw new StoreException(
                        ErrorCode.CANNOT_START,
                        "data directory cannot be locked: path=" + folder
                                + ", relay.lock is missing; once no relay uses it, create an empty one");
            }
            channel = FileChannel.open(file, StandardOpenOption.READ);
            if (tryLock(channel, true) == null) {
                throw inUse(folder, readPid(channel));
            }
            acquired = true;
            return new DirectoryLock(folder, channel);
        } finally {
            if (!acquired) {
                release(folder, channel);
            }
        }
    }

    private static @Nullable FileLock tryLock(FileChannel channel, boolean shared) throws IOException {
        try {
            return channel.tryLock(LOCKED_BYTE, 1, shared);
        } catch (OverlappingFileLockException e) {
            return null;
        }
    }

    private static void writePid(FileChannel channel) throws IOException {
        String pid = ProcessHandle.current().pid() + "\n";
        channel.truncate(0);
        SmallFile.writeFully(channel, ByteBuffer.wrap(pid.getBytes(StandardCharsets.US_ASCII)), 0);
    }

    private static String readPid(FileChannel channel) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(MOST_PID_BYTES);
        channel.read(bytes, 0);
        String pid = StandardCharsets.US_ASCII.decode(bytes.flip()).toString().strip();
        return pid.isEmpty() ? "unknown" : pid;
    }

    /** False: the file is not as a relay leaves it, which a start puts right. Empty it is after a kill at the wrong moment. */
    boolean namesAProcess() throws IOException {
        if (channel.size() == 0) {
            return true;
        }
        ByteBuffer bytes = ByteBuffer.allocate(MOST_PID_BYTES);
        channel.read(bytes, 0);
        String text = StandardCharsets.US_ASCII.decode(bytes.flip()).toString();
        return channel.size() < MOST_PID_BYTES && text.matches("\\d+\n?");
    }

    /**
     * Throws StoreException once relay.lock is gone or another file: the next relay is not kept out then. It is not opened, which
     * would end the lock.
     */
    void checkKeepsOthersOut() {
        try {
            if (Objects.equals(fileKey, fileKey(folder))) {
                return;
            }
        } catch (NoSuchFileException e) {
            throw lost(e);
        } catch (IOException e) { // that is not known, then
            return;
        }
        throw lost(null);
    }

    private StoreException lost(@Nullable IOException cause) {
        return new StoreException(
                ErrorCode.PIPE_FAILED,
                "lock file was deleted or replaced: path=" + folder.resolve(NAME)
                        + "; another relay may use the directory, stop both and start one",
                cause);
    }

    private static @Nullable Object fileKey(Path folder) throws IOException {
        return Files.readAttributes(folder.resolve(NAME), BasicFileAttributes.class)
                .fileKey();
    }

    private static StoreException inUse(Path folder, String pid) {
        return new StoreException(
                ErrorCode.CANNOT_START,
                "data directory is in use: path=" + folder + ", pid=" + pid + "; is another relay running?");
    }

    private static void release(Path folder, @Nullable FileChannel channel) throws IOException {
        try {
            if (channel != null) {
                channel.close();
            }
        } finally {
            HELD_IN_THIS_PROCESS.remove(folder);
        }
    }

    @Override
    public void close() throws IOException {
        if (!released) {
            released = true;
            release(folder, channel);
        }
    }
}
