package io.tabletrelay.core.store.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.core.store.IdRange;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * A log of one segment whose file is damaged, tried, and made whole again.
 *
 * <p>Threading: confined to the test's thread.
 */
final class DamageTrial {
    private static final Duration OPENS_WITHIN = Duration.ofSeconds(2);

    final int events;
    final Path file;
    private final Path folder;
    private final long markedId;
    private final byte[] whole;
    private final long length;

    /** What a damaged log gave: ids read, ids named as damaged, and the id of the next append. */
    record Outcome(List<Long> readIds, List<IdRange> damaged, long appendedId) {}

    interface Damage {
        void to(RandomAccessFile file) throws IOException;
    }

    DamageTrial(Path folder, int events) throws IOException {
        this.folder = folder;
        this.events = events;
        TestLog log = new TestLog(folder);
        for (int i = 1; i <= events; i++) {
            log.append(textOf(i));
        }
        file = log.files().get(0);
        markedId = log.mark.value();
        log.close();
        length = Files.size(file);
        try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "r")) {
            whole = new byte[256 << 10];
            open.readFully(whole);
        }
    }

    static String textOf(long id) {
        return "event " + id + " " + "x".repeat((int) (id % 7));
    }

    /** Where the event's record begins, Chronicle's word before it. */
    int wordOf(long id) {
        int position = SegmentFile.BIRTH_BYTES;
        for (int i = 0; i < id; i++) {
            position += Integer.BYTES + lengthAt(position);
            position += -position & 3;
        }
        return position;
    }

    /** Behind the last event. */
    int end() {
        int last = wordOf(events);
        return last + Integer.BYTES + lengthAt(last);
    }

    int lengthAt(int word) {
        return (whole[word] & 0xFF) | (whole[word + 1] & 0xFF) << 8 | (whole[word + 2] & 0xFF) << 16;
    }

    /** Damages the file, opens the log, reads it, appends to it, reads it again; then all is as it was before. */
    Outcome run(Damage damage) throws IOException {
        try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
            damage.to(open);
        }
        try {
            return openAndAppend();
        } finally {
            restore();
        }
    }

    private Outcome openAndAppend() {
        TestLog.MemoryMark mark = new TestLog.MemoryMark();
        mark.raiseTo(markedId);
        long before = System.nanoTime();
        try (TestLog log = new TestLog(folder, TestLog.SMALL, mark)) {
            assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(OPENS_WITHIN);
            TestLog.Read atOpen = log.readAll();
            checkEachIdHasOneFate(log.log, atOpen);
            long appendedId = log.append("new");
            assertThat(appendedId).isGreaterThan(events);
            TestLog.Read after = log.readAll();
            assertThat(after.events().remove(appendedId)).isEqualTo("new");
            assertThat(after).isEqualTo(atOpen);
            return new Outcome(List.copyOf(atOpen.events().keySet()), atOpen.damaged(), appendedId);
        }
    }

    private void checkEachIdHasOneFate(ChronicleEventLog log, TestLog.Read read) {
        TreeSet<Long> seen = new TreeSet<>(read.events().keySet());
        read.events().forEach((id, text) -> assertThat(text).isEqualTo(textOf(id)));
        for (IdRange range : read.damaged()) {
            LongStream.rangeClosed(range.first(), range.last())
                    .forEach(id -> assertThat(seen.add(id)).isTrue());
        }
        long unseen = LongStream.rangeClosed(1, log.lastId())
                .filter(id -> !seen.contains(id))
                .peek(id -> assertThat(log.skipVoid(id)).isGreaterThan(id))
                .count();
        assertThat(log.voidIds()).isEqualTo(unseen);
    }

    private void restore() throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            for (Path path : all.toList()) {
                SegmentFolder segment = SegmentFolder.parse(path);
                if (segment != null && segment.number() > 1) {
                    segment.delete();
                }
            }
        }
        Files.createDirectories(file.getParent());
        try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
            open.setLength(0);
            open.setLength(length);
            open.write(Arrays.copyOf(whole, whole.length));
        }
    }

    List<Long> ids(int... except) {
        return IntStream.rangeClosed(1, events)
                .filter(id -> Arrays.stream(except).noneMatch(other -> other == id))
                .mapToObj(id -> (long) id)
                .toList();
    }
}
