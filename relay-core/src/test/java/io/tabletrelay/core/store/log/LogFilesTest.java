package io.tabletrelay.core.store.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.EventTailer;
import io.tabletrelay.core.store.IdRange;
import io.tabletrelay.core.store.StoreException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import net.openhft.chronicle.bytes.Bytes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Files that are gone, foreign, half-written or too many, and disks that are full. */
class LogFilesTest {
    @TempDir
    Path folder;

    private TestLog test;

    @BeforeEach
    void open() {
        ((Logger) LoggerFactory.getLogger("io.tabletrelay.core.store")).setLevel(Level.OFF);
        test = new TestLog(folder.resolve("events"));
        for (int i = 1; i <= 3; i++) {
            test.append("a" + i, "b" + i);
            test.reopen();
        }
    }

    @AfterEach
    void close() {
        test.close();
        ((Logger) LoggerFactory.getLogger("io.tabletrelay.core.store")).setLevel(null);
    }

    @Test
    void aSegmentThatIsGoneFromTheMiddleIsNamed() {
        test.log.segments().get(1).folder().delete();

        test.reopen();

        assertThat(test.readAll().damaged()).containsExactly(new IdRange(3, 4));
        assertThat(test.readAll().events()).containsOnlyKeys(1L, 2L, 5L, 6L);
        assertThat(test.append("next")).isEqualTo(7);
    }

    @Test
    void aForeignQueueFileIsPutAsideEachTimeItIsThere() throws IOException {
        Path inSegment = test.log.segments().get(1).folder().path();
        for (int time = 1; time <= 2; time++) {
            for (Path folder : List.of(test.folder, inSegment)) {
                Files.writeString(folder.resolve("junk.cq4"), "junk " + time);
                Files.copy(test.files().get(0), folder.resolve("19700102F.cq4"));
            }

            test.reopen();

            assertThat(test.readAll().events()).hasSize(5 + time);
            assertThat(test.append("more")).isEqualTo(6 + time);
            for (Path folder : List.of(test.folder, inSegment)) {
                assertThat(folder.resolve(time == 1 ? "junk.cq4.foreign" : "junk.cq4.foreign-2"))
                        .hasContent("junk " + time);
                assertThat(folder.resolve("junk.cq4")).doesNotExist();
                assertThat(folder.resolve("19700102F.cq4")).doesNotExist();
            }
        }
    }

    /** A process that is killed before its first append leaves a segment; the next one's makes it useless. */
    @Test
    void emptySegmentsOfKilledProcessesAreNotKept() throws IOException {
        for (int kill = 0; kill < 3; kill++) {
            test.log.makeRoomFor(TestLog.group(null, "never appended"));
            test.reopen();
        }

        assertThat(test.append("next")).isEqualTo(7);
        test.reopen();

        assertThat(test.readAll().events()).hasSize(7);
        try (Stream<Path> folders = Files.list(test.folder)) {
            assertThat(folders)
                    .containsExactlyInAnyOrderElementsOf(test.log.segments().stream()
                            .map(segment -> segment.folder().path())
                            .toList());
        }
    }

    @Test
    void chroniclesMetadataMayBeInAnyState() throws IOException {
        test.append("c");
        byte[] whole = Files.readAllBytes(newestMetadata());
        byte[] unfinished = whole.clone();
        unfinished[3] |= (byte) 0x80;
        byte[] flipped = whole.clone();
        for (int i = 0; i < 400; i += 20) {
            flipped[i] ^= (byte) 0xFF;
        }
        byte[] ofOtherCycle = new String(whole, StandardCharsets.ISO_8859_1)
                .replace("yyyyMMdd'F'", "yyyyMMdd-HH")
                .getBytes(StandardCharsets.ISO_8859_1);
        assertThat(ofOtherCycle).isNotEqualTo(whole);
        int events = 7;
        for (byte[] content : List.of(
                new byte[0], new byte[whole.length], Arrays.copyOf(whole, 50), unfinished, flipped, ofOtherCycle)) {
            for (Segment segment : test.log.segments()) {
                Files.write(segment.folder().path().resolve("metadata.cq4t"), content);
            }
            long before = System.nanoTime();

            test.reopen();

            assertThat(test.readAll().events()).hasSize(events++);
            assertThat(test.readAll().damaged()).isEmpty();
            assertThat(test.append("more")).isEqualTo(events);
            assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(2));
        }
    }

    private Path newestMetadata() {
        List<Segment> segments = test.log.segments();
        return segments.get(segments.size() - 1).folder().path().resolve("metadata.cq4t");
    }

    /** A container gives each process the same pid: Chronicle's lock of the killed one looks like our own. */
    @Test
    void aLockLeftByAProcessOfTheSamePidHoldsNobodyUp() throws IOException {
        SegmentFolder newest = test.log.segments().get(2).folder();
        Path metadata = newest.path().resolve("metadata.cq4t");
        test.append("in a fresh segment");
        Path fresh = test.log.segments().get(3).folder().path().resolve("metadata.cq4t");
        Files.copy(fresh, metadata, StandardCopyOption.REPLACE_EXISTING);
        overwriteUnlocked(metadata, ProcessHandle.current().pid());
        Files.copy(metadata, fresh, StandardCopyOption.REPLACE_EXISTING);
        long before = System.nanoTime();

        test.reopen();
        test.append("at once");

        assertThat(test.readAll().events()).hasSize(8);
        assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(2));
    }

    @Test
    void aGroupCutShortByAKillIsVoid() {
        EventGroup group = TestLog.group(null, "x", "y", "z");
        test.log.makeRoomFor(group);
        ByteBuffer record = ByteBuffer.allocateDirect(1000);
        for (int member = 1; member <= 2; member++) {
            RecordFormat.writeEvent(record, 6 + member, member, group, 0, new RecordChecksum(TestLog.SALT));
            Objects.requireNonNull(test.log.writer()).append(Bytes.wrapForRead(record), record.limit());
        }

        test.reopen();

        assertThat(test.log.lastId()).isEqualTo(8);
        assertThat(test.log.voidIds()).isEqualTo(2);
        assertThat(test.append("next")).isEqualTo(9);
        test.reopen();
        assertThat(test.readAll().events()).containsOnlyKeys(1L, 2L, 3L, 4L, 5L, 6L, 9L);
        assertThat(test.readAll().damaged()).isEmpty();
        assertThat(test.log.voidIds()).isEqualTo(2);
    }

    @Test
    void manySegmentsLeaveNoHandleOpen() throws IOException {
        try (EventTailer tailer = test.log.openTailer()) {
            long before = openHandles();
            for (int i = 0; i < 150; i++) {
                test.log.makeRoomFor(TestLog.bytes(1 << 20));
                test.append("small");
                TestLog.readAll(tailer);
                if (i > 1) {
                    test.log.segments().get(i).folder().delete();
                }
            }

            assertThat(test.log.segments()).hasSize(153);
            await("handles are closed").atMost(Duration.ofSeconds(30)).until(() -> openHandles() < before + 10);
        }
    }

    @Test
    void aDiskThatIsReallyFullRefusesAppendsAndLosesNothing() throws Exception {
        Path disk = Files.createDirectory(folder.resolve("disk"));
        assumeThat(run("mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", disk.toString()))
                .isZero();
        try (TestLog full = new TestLog(disk.resolve("events"), new StoreConfig(4 << 20, 1 << 20, 0, 0, 0))) {
            Files.write(disk.resolve("ballast"), new byte[6 << 20]);

            for (int round = 0; round < 3; round++) {
                assertThatThrownBy(() -> fill(full))
                        .isInstanceOfSatisfying(
                                StoreException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.STORAGE_FULL));
            }

            long lastId = full.log.lastId();
            assertThat(full.readAll().events()).hasSize((int) lastId);
            full.reopen();
            assertThat(full.readAll().events()).hasSize((int) lastId);
            assertThat(full.readAll().damaged()).isEmpty();
            Files.delete(disk.resolve("ballast"));
            assertThat(full.append("there is space")).isEqualTo(lastId + 1);
            assertThat(full.readAll().events()).hasSize((int) lastId + 1);
        } finally {
            run("umount", "-l", disk.toString());
        }
    }

    private static void fill(TestLog full) {
        for (int i = 0; i < 100_000; i++) {
            full.append(TestLog.bytes(i % 2 == 0 ? 40_000 : 100));
        }
    }

    private static int run(String... command) throws IOException, InterruptedException {
        try {
            return new ProcessBuilder(command).redirectErrorStream(true).start().waitFor();
        } catch (IOException noSuchCommand) {
            return -1;
        }
    }

    private static long openHandles() throws IOException {
        try (Stream<Path> handles = Files.list(Path.of("/proc/self/fd"))) {
            return handles.count();
        }
    }

    /** Chronicle's locks hold 1 << 63 while they are free. */
    private static void overwriteUnlocked(Path metadata, long pid) throws IOException {
        byte[] bytes = Files.readAllBytes(metadata);
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        int locks = 0;
        for (int i = 0; i + Long.BYTES <= bytes.length; i++) {
            if (buffer.getLong(i) == 0x80L) {
                buffer.putLong(i, Long.reverseBytes(pid));
                locks++;
            }
        }
        assertThat(locks).isPositive();
        Files.write(metadata, bytes);
    }
}
