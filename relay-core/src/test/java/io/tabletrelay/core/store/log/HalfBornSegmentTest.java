package io.tabletrelay.core.store.log;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** BR-014, BR-015: a process dies at one step of a segment's birth after the other. */
class HalfBornSegmentTest {
    private static final int INDEX_OF_INDEXES = 0xC8;
    private static final int LAST_POSITION = 0x40;
    private static final int FIRST_INDEX = 0x20F0;
    private static final int PAGE_BYTES = 4096;

    @TempDir
    Path folder;

    private TestLog test;
    private SegmentFolder born;
    private byte[] file;
    private byte[] metadata;

    /** What is there when the process dies. The queue file has its full length from when its first byte is written. */
    private enum Step {
        FOLDER,
        EMPTY_METADATA,
        UNFINISHED_METADATA,
        METADATA_LOCKED_BY_OUR_PID,
        EMPTY_FILE,
        FILE_OF_ZEROS,
        CLAIMED_HEADER,
        UNFINISHED_HEADER,
        HEADER,
        UNFINISHED_INDEX,
        INDEX_OF_INDEXES_ONLY,
        BOTH_INDEXES,
        EMPTY_ALLOCATED,
        SHORT_ALLOCATED,
        ALLOCATED,
        RECORD_WITHOUT_ITS_WORD,
        UNFINISHED_RECORD,
        RECORD_BEFORE_CHRONICLE_KNOWS_OF_IT,
        RECORD_BUT_ALLOCATED_IS_GONE,
        RECORD_BUT_ALLOCATED_BEHIND_THE_FILE,
        RECORD,
        BORN
    }

    @BeforeEach
    void beBornAndDie() throws IOException {
        test = new TestLog(folder.resolve("events"));
        for (int i = 1; i <= 3; i++) {
            test.append("a" + i, "b" + i);
            test.reopen();
        }
        test.log.makeRoomFor(TestLog.group(null, "never appended"));
        born = test.log.segments().get(3).folder();
        file = read(file(), SegmentFile.BIRTH_BYTES + PAGE_BYTES);
        metadata = read(metadataFile(), Integer.MAX_VALUE);
        test.log.close();
    }

    @ParameterizedTest
    @EnumSource
    void aSegmentWhoseBirthWasCutShortHoldsUpNobodyAndCostsNoId(Step step) throws IOException {
        dieAt(step);
        for (int boot = 0; boot < 3; boot++) {
            long before = System.nanoTime();

            try (TestLog log = new TestLog(test.folder, TestLog.SMALL, test.mark)) {
                assertThat(log.readAll().events()).hasSize(6 + boot);
                assertThat(log.readAll().damaged()).isEmpty();
                assertThat(log.log.lastId()).isEqualTo(6 + boot);
                assertThat(log.append("next")).isEqualTo(7 + boot);
                assertThat(log.readAll().events()).containsEntry(7L + boot, "next");
                assertThat(log.log.voidIds()).isZero();
            }
            assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(2));
        }
        assertThat(born.path()).doesNotExist();
    }

    private void dieAt(Step step) throws IOException {
        long length = Files.size(file());
        byte[] allocated = read(born.path().resolve("allocated"), Integer.MAX_VALUE);
        if (step == Step.BORN) {
            return;
        }
        born.delete();
        Files.createDirectories(born.path());
        if (step.compareTo(Step.EMPTY_METADATA) >= 0) {
            Files.write(metadataFile(), metadataAt(step));
        }
        if (step.compareTo(Step.EMPTY_FILE) >= 0) {
            try (RandomAccessFile open = new RandomAccessFile(file().toFile(), "rw")) {
                open.write(fileAt(step));
                open.setLength(step == Step.EMPTY_FILE ? 0 : length);
            }
        }
        byte[] note = allocatedAt(step, allocated, length);
        if (note != null) {
            Files.write(born.path().resolve("allocated"), note);
        }
    }

    private byte[] metadataAt(Step step) {
        byte[] bytes = metadata.clone();
        if (step == Step.EMPTY_METADATA) {
            return new byte[0];
        } else if (step == Step.UNFINISHED_METADATA) {
            bytes[3] |= (byte) 0x80;
        } else if (step == Step.METADATA_LOCKED_BY_OUR_PID) {
            ByteBuffer locks = ByteBuffer.wrap(bytes);
            for (int i = 0; i + Long.BYTES <= bytes.length; i++) {
                if (locks.getLong(i) == 0x80L) {
                    locks.putLong(i, Long.reverseBytes(ProcessHandle.current().pid()));
                }
            }
        }
        return bytes;
    }

    private byte[] fileAt(Step step) {
        return switch (step) {
            case FILE_OF_ZEROS -> new byte[0];
            case CLAIMED_HEADER -> new byte[] {0, 0, 0, (byte) 0x80};
            case UNFINISHED_HEADER -> unfinished(Arrays.copyOf(file, INDEX_OF_INDEXES), 0);
            case HEADER -> Arrays.copyOf(file, INDEX_OF_INDEXES);
            case UNFINISHED_INDEX -> unfinished(Arrays.copyOf(file, FIRST_INDEX), INDEX_OF_INDEXES);
            case INDEX_OF_INDEXES_ONLY -> Arrays.copyOf(file, FIRST_INDEX);
            case BOTH_INDEXES, EMPTY_ALLOCATED, SHORT_ALLOCATED, ALLOCATED ->
                Arrays.copyOf(file, SegmentFile.BIRTH_BYTES);
            case RECORD_WITHOUT_ITS_WORD -> {
                byte[] bytes = file.clone();
                Arrays.fill(bytes, SegmentFile.BIRTH_BYTES, SegmentFile.BIRTH_BYTES + Integer.BYTES, (byte) 0);
                yield bytes;
            }
            case RECORD_BEFORE_CHRONICLE_KNOWS_OF_IT -> {
                byte[] bytes = file.clone();
                Arrays.fill(bytes, LAST_POSITION, LAST_POSITION + 2 * Long.BYTES, (byte) 0);
                yield bytes;
            }
            case UNFINISHED_RECORD -> unfinished(file.clone(), SegmentFile.BIRTH_BYTES);
            default -> file;
        };
    }

    private static byte[] unfinished(byte[] bytes, int word) {
        bytes[word + 3] |= (byte) 0x80;
        return bytes;
    }

    private static byte @Nullable [] allocatedAt(Step step, byte[] allocated, long length) {
        return switch (step) {
            case EMPTY_ALLOCATED -> new byte[0];
            case SHORT_ALLOCATED -> new byte[3];
            case RECORD_BUT_ALLOCATED_BEHIND_THE_FILE ->
                ByteBuffer.allocate(Long.BYTES).putLong(length + 1).array();
            case RECORD_BUT_ALLOCATED_IS_GONE -> null;
            default -> step.compareTo(Step.ALLOCATED) >= 0 ? allocated : null;
        };
    }

    private Path file() {
        return born.path().resolve(new SegmentClock(born.number()).fileName());
    }

    private Path metadataFile() {
        return born.path().resolve("metadata.cq4t");
    }

    private static byte[] read(Path path, int bytes) throws IOException {
        try (InputStream in = Files.newInputStream(path)) {
            return in.readNBytes(bytes);
        }
    }
}
