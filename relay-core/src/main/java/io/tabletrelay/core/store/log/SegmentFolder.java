package io.tabletrelay.core.store.log;

import io.tabletrelay.core.store.SmallFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The folder of one segment, {@code <number>-<first id>}: a Chronicle queue of one file, Chronicle's metadata, and notes of
 * ours: {@code born} (empty), {@code allocated} (bytes of the file that are allocated, i64 big-endian) and {@code ended} (last
 * id, i64 big-endian, and its CRC32C, i32), which is there once nothing is appended any more, and {@link CoveredNote}. The
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
        /** Something is there that Chronicle must not see; events in it may be found by their bytes. */
        SEARCHABLE,
        /** There is no file, or an empty one. */
        MISSING
    }

    static final String SUFFIX = ".cq4";

    /** Behind the name of a folder that is being deleted: no open takes it for a segment. */
    private static final String DELETED = ".deleted";

    private static final String BORN = "born";
    private static final String ALLOCATED = "allocated";
    private static final String ENDED = "ended";
    private static final int ENDED_BYTES = Long.BYTES + Integer.BYTES;
    private static final int CYCLE_SHIFT = 32;
    private static final Pattern NAME = Pattern.compile("(\\d{10})-(\\d{1,19})");

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

    /** The segment's queue file; null if there is none. Any other one would keep Chronicle from opening the folder. */
    @Nullable
    Path file() {
        Path file = path.resolve(new SegmentClock(number).fileName());
        return Files.isRegularFile(file) ? file : null;
    }

    /** True for the queue file and our notes; what else is there means nothing to the log. */
    boolean has(Path inFolder) {
        String name = String.valueOf(inFolder.getFileName());
        return inFolder.equals(file())
                || List.of(BORN, ALLOCATED, ENDED, CoveredNote.NAME).contains(name);
    }

    /**
     * Makes the queue file of zeros, which Chronicle takes for one that somebody else has just made. Left to itself it would touch
     * pages that are not there: a full disk would show as a fault, and each touch would have the system read ahead in a file
     * of nothing.
     */
    void allocateBirth(ByteBuffer zeros) throws IOException {
        Path file = path.resolve(new SegmentClock(number).fileName());
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            SmallFile.writeFully(channel, zeros, 0);
        }
    }

    /** Says that the segment is there as a whole: nothing is appended to it before. */
    void markBorn() throws IOException {
        Files.createFile(path.resolve(BORN));
    }

    boolean isMarkedBorn() {
        return Files.exists(path.resolve(BORN));
    }

    /** Notes how much of the segment's file is allocated, which nobody could tell from the file, whose length says nothing. */
    void noteAllocated(long bytes) throws IOException {
        try (FileChannel channel =
                FileChannel.open(path.resolve(ALLOCATED), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            SmallFile.writeFully(channel, ByteBuffer.allocate(Long.BYTES).putLong(0, bytes), 0);
        }
    }

    /** What was noted last; 0 if nothing was, or nothing that can be true. */
    long allocatedBytes() throws IOException {
        Path file = file();
        Path note = path.resolve(ALLOCATED);
        if (file == null || !Files.exists(note) || Files.size(note) != Long.BYTES) {
            return 0;
        }
        long bytes = ByteBuffer.wrap(Files.readAllBytes(note)).getLong();
        return bytes <= Files.size(file) ? Math.max(0, bytes) : 0;
    }

    /** Notes the last id, once nothing is appended any more: the file itself forgets it when its first page is lost. */
    void noteEnd(long lastId) throws IOException {
        ByteBuffer note = ByteBuffer.allocate(ENDED_BYTES).putLong(lastId);
        Files.write(path.resolve(ENDED), note.putInt(check(note.array())).array());
    }

    /** What was noted; 0 if nothing was: the segment was not closed in order. */
    long endedAt() throws IOException {
        Path file = path.resolve(ENDED);
        if (!Files.exists(file) || Files.size(file) != ENDED_BYTES) {
            return 0;
        }
        ByteBuffer note = ByteBuffer.wrap(Files.readAllBytes(file));
        return note.getInt(Long.BYTES) == check(note.array()) ? note.getLong(0) : 0;
    }

    private static int check(byte[] note) {
        CRC32C crc = new CRC32C();
        crc.update(note, 0, Long.BYTES);
        return (int) crc.getValue();
    }

    /** Chronicle's index of the segment's record with that number, counted from 0, its header's. */
    long index(long sequence) {
        return ((long) number << CYCLE_SHIFT) + sequence;
    }

    State inspect(LogLimits limits) throws IOException {
        Path file = file();
        try {
            return file == null ? State.MISSING : SegmentFile.inspect(file, limits);
        } catch (IOException e) {
            if (SegmentFile.isLost(e)) {
                return State.MISSING;
            }
            throw e;
        }
    }

    /** The segment's first record, or null if it is damaged or another segment's. */
    @Nullable
    SegmentHeader header() throws IOException {
        Path file = file();
        SegmentHeader header = file == null ? null : SegmentFile.header(file);
        return header != null && header.firstId() == firstId ? header : null;
    }

    /** Chronicle's metadata holds nothing that we need, and a half-written one keeps its queue from opening. */
    void deleteMetadata() {
        try {
            Files.deleteIfExists(path.resolve("metadata.cq4t"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static boolean isDeleted(Path path) {
        return path.getFileName().toString().endsWith(DELETED);
    }

    /** The first step of its deletion, from when on the log has it no more. Returns what is left to {@link #deleteAll}. */
    Path renameDeleted() throws IOException {
        Path deleted = path.resolveSibling(path.getFileName() + DELETED);
        if (Files.exists(path)) {
            Files.move(path, deleted, StandardCopyOption.ATOMIC_MOVE);
        }
        return deleted;
    }

    void delete() {
        deleteAll(path);
    }

    /** Deletes the folder and what is in it, if it is there. */
    static void deleteAll(Path path) {
        if (!Files.exists(path)) {
            return;
        }
        try (Stream<Path> all = Files.walk(path)) {
            for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(each);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
