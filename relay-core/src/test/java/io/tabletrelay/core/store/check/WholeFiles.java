package io.tabletrelay.core.store.check;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The files of a directory as they were, to be put back after something was done to them.
 *
 * <p>Threading: confined to the thread that uses it.
 */
final class WholeFiles {
    private final Path root;
    private final Map<Path, Whole> files = new TreeMap<>();
    private final Set<Path> folders = new HashSet<>();
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(128 << 10);

    /** Segment files are long, and zeros behind what is used. */
    record Whole(long size, ByteBuffer used) {
        int usedBytes() {
            return used.limit();
        }
    }

    WholeFiles(Path root) throws IOException {
        this.root = root;
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                folders.add(folder);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                byte[] start = Arrays.copyOf(start(file).array(), buffer.limit());
                int used = start.length;
                while (used > 0 && start[used - 1] == 0) {
                    used--;
                }
                files.put(
                        file,
                        new Whole(
                                attributes.size(),
                                ByteBuffer.wrap(start).slice(0, used).asReadOnlyBuffer()));
                return FileVisitResult.CONTINUE;
            }
        });
    }

    Map<Path, Whole> files() {
        return files;
    }

    private ByteBuffer start(Path file) throws IOException {
        read(file);
        ByteBuffer copy = ByteBuffer.allocate(buffer.limit());
        copy.put(buffer.duplicate()).flip();
        return copy;
    }

    private void read(Path file) throws IOException {
        buffer.clear();
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            int more = 0;
            while (more >= 0 && buffer.hasRemaining()) {
                more = channel.read(buffer, buffer.position());
            }
        }
        buffer.flip();
    }

    /** Returns which files were not as they should be, those that are new among them. */
    Set<Path> putBack() throws IOException {
        Set<Path> changed = new HashSet<>();
        Set<Path> missing = new HashSet<>(files.keySet());
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Whole whole = files.get(file);
                missing.remove(file);
                if (whole == null) {
                    changed.add(file);
                    Files.delete(file);
                } else if (attributes.size() != whole.size() || !isWhole(file, whole)) {
                    changed.add(file);
                    write(file, whole);
                }
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path folder, @Nullable IOException e) throws IOException {
                if (!folders.contains(folder)) {
                    Files.delete(folder);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        for (Path file : missing) {
            changed.add(file);
            Path parent = file.getParent();
            if (parent != null) {
                Files.createDirectories(parent);
            }
            write(file, files.get(file));
        }
        return changed;
    }

    private boolean isWhole(Path file, Whole whole) throws IOException {
        buffer.clear().limit((int) Math.min(whole.size(), whole.usedBytes() + 512L));
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            int more = 0;
            while (more >= 0 && buffer.hasRemaining()) {
                more = channel.read(buffer, buffer.position());
            }
        }
        buffer.flip();
        if (whole.used().mismatch(buffer.duplicate().limit(Math.min(buffer.limit(), whole.usedBytes()))) >= 0) {
            return false;
        }
        for (int at = whole.usedBytes(); at < buffer.limit(); at++) {
            if (buffer.get(at) != 0) {
                return false;
            }
        }
        return true;
    }

    private static void write(Path file, @Nullable Whole whole) throws IOException {
        if (whole == null) {
            return;
        }
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            channel.truncate(0);
            channel.write(whole.used().duplicate(), 0);
            if (whole.size() > whole.usedBytes()) {
                channel.write(ByteBuffer.allocate(1), whole.size() - 1);
            }
        }
    }
}
