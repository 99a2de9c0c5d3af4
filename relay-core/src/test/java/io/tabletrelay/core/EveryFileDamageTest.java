package io.tabletrelay.core;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.tabletrelay.api.Payload;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.StoreException;
import io.tabletrelay.core.store.check.DataCheck;
import io.tabletrelay.core.store.check.DataReport;
import io.tabletrelay.core.store.folder.PipeStore;
import io.tabletrelay.core.store.folder.StillDirectory;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/**
 * Damage in any file of a pipe is named, or it changes nothing; it never makes a wrong event, an ack that nobody gave, or an id
 * used twice. A sample; the profile {@code damage} tries every byte and every length.
 */
class EveryFileDamageTest {
    private static final int EVENTS = 30;
    private static final boolean ALL = Boolean.getBoolean("damage.all");

    @TempDir
    private Path folder;

    private TestData data;
    private State whole = new State(Map.of(), List.of(), 0, 0);

    /** What a pipe says of itself. */
    private record State(Map<Long, String> events, List<Long> settled, int attempts, long deadLetters) {
        static State of(PipeStore store) {
            List<Long> settled = LongStream.rangeClosed(1, EVENTS)
                    .filter(store.settled()::isSettled)
                    .boxed()
                    .toList();
            long letters =
                    store.deadLetterLog().lastId() - store.deadLetterLog().voidIds();
            return new State(TestData.read(store), settled, store.attempts().size(), letters);
        }
    }

    /** What is done to a file. */
    private interface Damage {
        void to(Path file) throws IOException;
    }

    @BeforeEach
    void write() {
        logger().setLevel(Level.OFF);
        data = new TestData(folder.resolve("data"));
        data.write("plant", EVENTS).open("plant", store -> {
            Payload letter = new Payload("", Map.of("relay-event-id", "3"), ByteBuffer.allocate(5));
            EventGroup group = new EventGroup(List.of(letter), null, 500);
            store.deadLetterLog().makeRoomFor(group);
            store.deadLetterLog().append(group);
            whole = State.of(store);
        });
    }

    @AfterEach
    void speakAgain() {
        logger().setLevel(null);
    }

    @Test
    void aFlippedBitIsNamedOrHarmless() throws IOException {
        for (Path file : files()) {
            long used = Math.min(Files.size(file), 24_000);
            for (long at = 0; at < used; at += step(used, 8)) {
                long position = at;
                damage(file, "bit at " + at, copy -> flip(copy, position));
            }
        }
    }

    @Test
    void aFileThatWasCutIsNamedOrHarmless() throws IOException {
        for (Path file : files()) {
            long used = Math.min(Files.size(file), 24_000);
            for (long length = 0; length < used; length += step(used, 4)) {
                long kept = length;
                damage(file, "cut to " + length, copy -> cut(copy, kept));
            }
        }
    }

    @Test
    void aZeroedPageIsNamedOrHarmless() throws IOException {
        for (Path file : files()) {
            for (long page = 0; page < Math.min(Files.size(file), 28_000); page += 4096) {
                long position = page;
                damage(file, "page at " + page, copy -> zero(copy, position));
            }
        }
    }

    @Test
    void aFileThatIsGoneIsNamedOrHarmless() throws IOException {
        for (Path file : files()) {
            damage(file, "gone", Files::delete);
        }
    }

    /** The file is put back as it was afterwards, and what the relay did meanwhile goes. */
    private void damage(Path file, String how, Damage damage) throws IOException {
        String what = data.path().relativize(file) + ", " + how;
        TestData copy = new TestData(folder.resolve("copy"));
        copyTree(data.path(), copy.path());
        Path damaged = copy.path().resolve(data.path().relativize(file));
        damage.to(damaged);
        DataReport report = check(copy);
        boolean isNamed = !report.isSound();
        try {
            copy.open("plant", store -> {
                State state = State.of(store);
                assertThat(whole.events()).as(what).containsAllEntriesOf(state.events());
                assertThat(whole.settled()).as(what).containsAll(state.settled());
                if (!isNamed && !mayBeGone(file)) {
                    assertThat(state).as("%s is not named", what).isEqualTo(whole);
                }
                assertThat(TestData.append(store, "next", null)).as(what).isGreaterThan(EVENTS);
                assertThat(TestData.read(store)).as(what).hasSize(state.events().size() + 1);
            });
        } catch (StoreException failed) {
            assertThat(isNamed).as(what).isTrue();
            assertThat(failed.reason()).as(what).contains("plant");
        }
        deleteTree(copy.path());
    }

    /** A journal of attempts need not be there, and a kill may cut its end. */
    private static boolean mayBeGone(Path file) {
        return file.toString().endsWith(".attempts");
    }

    private static DataReport check(TestData of) throws IOException {
        try (StillDirectory still = StillDirectory.open(of.path())) {
            return new DataCheck(still, TestData.SMALL, null).run(bytes -> {});
        }
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> all = Files.walk(data.path().resolve("pipes"))) {
            List<Path> files = all.filter(Files::isRegularFile).sorted().toList();
            assertThat(files).hasSizeGreaterThanOrEqualTo(10);
            return files;
        }
    }

    private static long step(long bytes, int samples) {
        return ALL ? 1 : Math.max(1, bytes / samples);
    }

    private static void flip(Path file, long position) throws IOException {
        try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
            open.seek(position);
            int value = open.read();
            open.seek(position);
            open.write(value ^ 1 << position % 8);
        }
    }

    private static void cut(Path file, long length) throws IOException {
        try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
            open.setLength(length);
        }
    }

    private static void zero(Path file, long position) throws IOException {
        try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
            open.seek(position);
            open.write(new byte[(int) Math.min(4096, open.length() - position)]);
        }
    }

    private static void copyTree(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path path : all.toList()) {
                Path copy = to.resolve(from.relativize(path));
                if (Files.isDirectory(path)) {
                    Files.createDirectories(copy);
                } else {
                    copyFile(path, copy);
                }
            }
        }
    }

    /** Segment files are long and nearly empty. */
    private static void copyFile(Path file, Path copy) throws IOException {
        try (RandomAccessFile in = new RandomAccessFile(file.toFile(), "r");
                RandomAccessFile out = new RandomAccessFile(copy.toFile(), "rw")) {
            byte[] used = new byte[(int) Math.min(in.length(), 64 << 10)];
            in.readFully(used);
            out.write(used);
            out.setLength(in.length());
        }
    }

    private static void deleteTree(Path root) throws IOException {
        Map<Path, Path> deepestFirst = new TreeMap<>(Comparator.reverseOrder());
        try (Stream<Path> all = Files.walk(root)) {
            all.forEach(path -> deepestFirst.put(path, path));
        }
        for (Path path : deepestFirst.values()) {
            Files.delete(path);
        }
    }

    private static Logger logger() {
        return (Logger) LoggerFactory.getLogger("io.tabletrelay.core.store");
    }
}
