package io.tabletrelay.core.store;

import io.tabletrelay.api.ErrorCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Locale;

/** Steps by which small files change: after a crash at any point the old or the new content is there, whole. */
public final class SmallFile {
    private SmallFile() {}

    /** The name under which a file is prepared; one that is found at an open was left by a crash and means nothing. */
    public static Path temp(Path file) {
        return file.resolveSibling(file.getFileName() + ".tmp");
    }

    /** When this returns the content is on disk, under that name. */
    public static void replace(Path file, byte[] content) throws IOException {
        prepare(file, content);
        moveIntoPlace(temp(file), file);
    }

    /** When this returns the content is on disk, and under that name in its directory, which is to be forced. */
    public static void put(Path file, byte[] content) throws IOException {
        prepare(file, content);
        Files.move(temp(file), file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private static void prepare(Path file, byte[] content) throws IOException {
        Path temp = temp(file);
        try (FileChannel channel = FileChannel.open(
                temp, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
            writeFully(channel, ByteBuffer.wrap(content), 0);
            channel.force(true);
        } catch (IOException e) {
            deleteQuietly(temp, e);
            throw e;
        }
    }

    /** Gives a prepared and forced file its name. */
    public static void moveIntoPlace(Path temp, Path file) throws IOException {
        Files.move(temp, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        forceDirectory(parent(file));
    }

    public static void writeFully(FileChannel channel, ByteBuffer bytes, long position) throws IOException {
        long at = position;
        while (bytes.hasRemaining()) {
            at += channel.write(bytes, at);
        }
    }

    public static void forceDirectory(Path directory) throws IOException {
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    /** Creates the directory; when this returns its name is on disk. Its parent must exist. */
    public static void createDirectory(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            Files.createDirectory(directory);
            forceDirectory(parent(directory));
        }
    }

    /** Renames a damaged file to {@code <name>.damaged-<n>}, where nothing but an operator touches it, and returns that. */
    public static Path setAside(Path file) throws IOException {
        for (int n = 1; ; n++) {
            Path aside = file.resolveSibling(file.getFileName() + ".damaged-" + n);
            if (!Files.exists(aside)) {
                moveIntoPlace(file, aside);
                return aside;
            }
        }
    }

    public static void deleteQuietly(Path file, Exception cause) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
    }

    public static Path parent(Path file) {
        Path parent = file.getParent();
        return parent == null ? Path.of("") : parent;
    }

    /** A full or read-only disk is STORAGE_FULL and heals by itself; anything else fails the pipe. */
    public static StoreException failure(String what, Path file, IOException cause) {
        String reason = String.valueOf(cause.getMessage());
        String lower = reason.toLowerCase(Locale.ROOT);
        boolean full = lower.contains("no space left") || lower.contains("quota exceeded");
        boolean readOnly = lower.contains("read-only file system");
        String otherwise = lower.contains("too many open files")
                ? "; raise the limit of open files (ulimit -n)"
                : "; check the disk and the file's permissions";
        return new StoreException(
                full || readOnly ? ErrorCode.STORAGE_FULL : ErrorCode.PIPE_FAILED,
                what + ": path=" + file + ", error=" + cause.getClass().getSimpleName() + ", reason=" + reason
                        + (full ? "; free space on that disk" : otherwise),
                cause);
    }
}
