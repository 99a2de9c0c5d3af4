package io.tabletrelay.core.store;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The folder of one segment, {@code <number>-<first id>}: a Chronicle queue of one file, and Chronicle's metadata. The
 * name says which ids are lost when nothing in the folder can be read.
 *
 * <p>Threading: immutable.
 *
 * @param number grows by one per segment, from 1
 * @param firstId id of the first event that the segment may have
 */
record SegmentFolder(Path path, int number, long firstId) {
    /** What is in a folder, as far as can be told without Chronicle. */
    enum State {
        /** Chronicle may open it. */
        READABLE,
        /** Its first word is unfinished and nothing is behind: the process died while the file was born. */
        UNBORN,
        /** There is no file, or an empty one. */
        MISSING,
        /** Something is there that Chronicle must not see. */
        DAMAGED
    }

    static final String SUFFIX = ".cq4";

    /** Where events may begin: before it is Chronicle's header and its first index pages, written while the file is born. */
    static final int BIRTH_BYTES = 20 << 10;

    private static final Pattern NAME = Pattern.compile("(\\d{10})-(\\d{1,19})");
    private static final int CHUNK_BYTES = 64 << 10;

    static @Nullable SegmentFolder parse(Path path) {
        Matcher matcher = NAME.matcher(path.getFileName().toString());
        if (!matcher.matches()) {
            return null;
        }
        try {
            return new SegmentFolder(path, Integer.parseInt(matcher.group(1)), Long.parseLong(matcher.group(2)));
        } catch (NumberFormatException tooLarge) {
            return null;
        }
    }

    static SegmentFolder of(Path log, int number, long firstId) {
        return new SegmentFolder(log.resolve("%010d-%d".formatted(number, firstId)), number, firstId);
    }

    /** The queue file, or null if there is not exactly one. */
    @Nullable
    Path file() {
        List<Path> files = files();
        return files.size() == 1 ? files.get(0) : null;
    }

    State inspect() {
        List<Path> files = files();
        if (files.size() > 1) {
            return State.DAMAGED;
        }
        try {
            if (files.isEmpty() || Files.size(files.get(0)) == 0) {
                return State.MISSING;
            }
            return inspect(files.get(0));
        } catch (IOException e) {
            return State.DAMAGED;
        }
    }

    /** Chronicle's metadata holds nothing that we need, and a half-written one keeps its queue from opening. */
    void deleteMetadata() {
        try {
            Files.deleteIfExists(path.resolve("metadata.cq4t"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * A file that was cut is mapped beyond its end, where reading is a fault: gives it back the length that Chronicle's
     * files have, as a hole that takes no space.
     */
    void restoreLength(long blockBytes, long mostBytes) {
        Path file = file();
        if (file == null) {
            return;
        }
        long overlapBytes = blockBytes / 4;
        try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
            if ((open.length() - overlapBytes) % blockBytes != 0) {
                open.setLength(
                        Math.max(open.length(), mostBytes) / blockBytes * blockBytes + blockBytes + overlapBytes);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void delete() {
        try (Stream<Path> all = Files.walk(path)) {
            for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(each);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private List<Path> files() {
        try (Stream<Path> all = Files.list(path)) {
            return all.filter(file -> file.getFileName().toString().endsWith(SUFFIX))
                    .toList();
        } catch (IOException e) {
            return List.of();
        }
    }

    private static State inspect(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            ByteBuffer word = ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
            boolean whole = channel.read(word, 0) == Integer.BYTES;
            int header = word.getInt(0);
            if (whole && header > 0 && (header & 0x4000_0000) != 0) {
                return State.READABLE;
            }
            return onlyZeros(channel, BIRTH_BYTES) && whole ? State.UNBORN : State.DAMAGED;
        }
    }

    private static boolean onlyZeros(FileChannel channel, long from) throws IOException {
        ByteBuffer chunk = ByteBuffer.allocate(CHUNK_BYTES);
        for (long position = from; channel.read(chunk.clear(), position) > 0; position += chunk.limit()) {
            chunk.flip();
            if (chunk.mismatch(ByteBuffer.allocate(chunk.limit())) >= 0) {
                return false;
            }
        }
        return true;
    }
}
