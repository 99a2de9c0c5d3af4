package io.tabletrelay.core.store.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.core.store.EventTailer;
import io.tabletrelay.core.store.IdRange;
import java.io.IOException;
import java.io.InputStream;
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
 * A log of one segment whose file is damaged, tried over a few boots, and made whole again.
 *
 * <p>Threading: confined to the test's thread.
 */
final class DamageTrial {
    private static final Duration OPENS_WITHIN = Duration.ofSeconds(2);
    private static final int BEGINNING_BYTES = 256 << 10;
    static final int EARLY_EVENTS = 10;

    final int events;
    final Path file;
    private final Path folder;
    private final long markedId;
    private final byte[] whole;
    private final byte[] early;
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
        for (int i = 1; i <= EARLY_EVENTS; i++) {
            log.append(textOf(i));
        }
        file = log.files().get(0);
        early = beginning();
        for (int i = EARLY_EVENTS + 1; i <= events; i++) {
            log.append(textOf(i));
        }
        markedId = log.mark.value();
        log.close();
        length = Files.size(file);
        whole = beginning();
    }

    private byte[] beginning() throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            return in.readNBytes(BEGINNING_BYTES);
        }
    }

    /** The file's first bytes as they were when it had {@link #EARLY_EVENTS} events. */
    byte[] early(int bytes) {
        return Arrays.copyOf(early, bytes);
    }

    /** As if the log had been killed. */
    void forgetEnd() throws IOException {
        Files.delete(file.resolveSibling("ended"));
    }

    /** The bytes of an event's record, Chronicle's word before it. */
    byte[] recordOf(long id) {
        int word = wordOf(id);
        return Arrays.copyOfRange(whole, word, word + Integer.BYTES + lengthAt(word));
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
        return run(1, damage);
    }

    /** The same a few times: every boot finds what the first one found, and what was appended since. */
    Outcome runOverBoots(Damage damage) throws IOException {
        return run(3, damage);
    }

    private Outcome run(int boots, Damage damage) throws IOException {
        try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
            damage.to(open);
        }
        try {
            return boot(boots);
        } finally {
            restore();
        }
    }

    /** No boot writes to the file. */
    private Outcome boot(int boots) throws IOException {
        byte[] damaged = Files.exists(file) ? beginning() : null;
        long damagedLength = damaged == null ? 0 : Files.size(file);
        TestLog.MemoryMark mark = new TestLog.MemoryMark();
        mark.raiseTo(markedId);
        Outcome first = openAndAppend(mark, events);
        long lastId = first.appendedId();
        for (int boot = 2; boot <= boots; boot++) {
            Outcome again = openAndAppend(mark, lastId);
            assertThat(again).as("boot %d", boot).isEqualTo(new Outcome(first.readIds(), first.damaged(), lastId + 1));
            lastId = again.appendedId();
        }
        if (damaged != null) {
            assertThat(Arrays.equals(beginning(), damaged))
                    .as("the damaged file is untouched")
                    .isTrue();
            assertThat(Files.size(file)).isEqualTo(damagedLength);
        }
        if (boots > 1) {
            try (TestLog log = new TestLog(folder, TestLog.SMALL, mark)) {
                checkMoves(log.log, log.readAll());
            }
        }
        return first;
    }

    /** What was appended at earlier boots must be there; it is no part of the outcome. */
    private Outcome openAndAppend(TestLog.MemoryMark mark, long lastId) {
        long before = System.nanoTime();
        try (TestLog log = new TestLog(folder, TestLog.SMALL, mark)) {
            assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(OPENS_WITHIN);
            TestLog.Read atOpen = log.readAll();
            checkEachIdHasOneFate(log.log, atOpen);
            String text = textOf(log.log.lastId() + 1);
            long appendedId = log.append(text);
            assertThat(appendedId).isGreaterThan(lastId);
            TestLog.Read after = log.readAll();
            assertThat(after.events().remove(appendedId)).isEqualTo(text);
            assertThat(after).isEqualTo(atOpen);
            List<Long> ofFile =
                    atOpen.events().keySet().stream().filter(id -> id <= events).toList();
            return new Outcome(ofFile, atOpen.damaged(), appendedId);
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

    /** Chronicle goes back to the start if it is sent to a place that is not there, or where its index is wrong. */
    private void checkMoves(ChronicleEventLog log, TestLog.Read read) {
        try (EventTailer tailer = log.openTailer()) {
            tailer.moveTo(log.lastId() + 1);
            assertThat(tailer.nextOpened()).isEqualTo(EventTailer.Step.END);
            for (long id : new long[] {events, events / 2, 1}) {
                tailer.moveTo(id);
                if (log.skipVoid(id) == id) {
                    boolean isThere = read.events().containsKey(id);
                    assertThat(tailer.nextOpened())
                            .isEqualTo(isThere ? EventTailer.Step.EVENT : EventTailer.Step.DAMAGED);
                    assertThat(tailer.id()).isEqualTo(id);
                }
            }
        }
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
