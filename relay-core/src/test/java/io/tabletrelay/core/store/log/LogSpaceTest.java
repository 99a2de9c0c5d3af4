package io.tabletrelay.core.store.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.Payload;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.EventTailer;
import io.tabletrelay.core.store.StoreException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Space is there before it is used, and its limits are refused with a reason. */
class LogSpaceTest {
    @TempDir
    Path folder;

    @Test
    void whatIsAccountedIsNeverLessThanWhatChronicleUsed() {
        StoreConfig config = new StoreConfig(16 << 20, 4 << 20, 0, 0, 0);
        Random random = new Random(1);
        try (TestLog test = new TestLog(folder, config)) {
            for (int i = 0; i < 60_000; i++) {
                int size = i % 5_000 == 0 ? random.nextInt(200_000) : random.nextInt(40);
                long lastBytes = RecordFormat.eventBytes(new Payload("b", Map.of(), ByteBuffer.allocate(size)), null);
                SegmentWriter before = test.log.writer();
                long end = before == null ? Long.MAX_VALUE : before.endAfter(lastBytes, 1);
                long position = before == null ? Long.MAX_VALUE : before.positionBytes();

                test.append(TestLog.bytes(size));

                SegmentWriter writer = Objects.requireNonNull(test.log.writer());
                assertThat(writer.lastRecordPosition()).isLessThanOrEqualTo(position); // behind the index pages
                assertThat(writer.positionBytes()).isLessThanOrEqualTo(end);
                assertThat(writer.positionBytes())
                        .isGreaterThanOrEqualTo(writer.lastRecordPosition() + Integer.BYTES + lastBytes);
                assertThat(writer.reservedBytes()).isGreaterThanOrEqualTo(writer.positionBytes());
            }
            assertThat(test.log.segments()).hasSize(1);
        }
    }

    /** Chronicle throws at the record that is one too many, once it is stored. */
    @Test
    void theLargestSegmentHasNotMoreRecordsThanChronicleCanIndex() {
        long mostBytes = 1L << 30;
        assertThatThrownBy(() -> new StoreConfig(mostBytes + 1, 1, 0, 0, 0)).hasMessageContaining("segment-bytes");
        Payload least = new Payload("b", Map.of(), ByteBuffer.allocate(0));

        long records = mostBytes / (Integer.BYTES + RecordFormat.eventBytes(least, null));

        assertThat(records)
                .isLessThan((long) SegmentQueue.INDEX_COUNT * SegmentQueue.INDEX_COUNT * SegmentQueue.INDEX_SPACING);
    }

    @Test
    void aSmallLogTakesLittle() {
        try (TestLog test = new TestLog(folder)) {
            test.append("a");

            assertThat(test.log.diskBytes()).isBetween(32L << 10, 64L << 10);
        }
    }

    @Test
    void aFullPipeIsRefusedWithItsNumbersAndGoesOnReading() {
        StoreConfig config = new StoreConfig(1 << 20, 1 << 20, 4 << 20, 0, 0);
        try (TestLog test = new TestLog(folder, config)) {
            assertThatThrownBy(() -> fill(test))
                    .isInstanceOfSatisfying(
                            StoreException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.PIPE_FULL))
                    .hasMessageContaining("pipe=orders, logBytes=")
                    .hasMessageContaining("limit=4194304")
                    .hasMessageEndingWith("publish again when older events are settled, or raise max-bytes");

            long lastId = test.log.lastId();
            assertThat(test.log.diskBytes()).isBetween(3L << 20, 4L << 20);
            assertThat(test.log.lowOnRoom() && test.log.hasRoomFor(TestLog.bytes(1 << 20)))
                    .isFalse();
            assertThat(test.readAll().events()).hasSize((int) lastId);
        }
    }

    /** Whether a kill or a close ended the segment: what was allocated ahead of its appends stays allocated. */
    @Test
    void whatWasAllocatedAheadIsCountedAfterAnOpen() {
        try (TestLog test = new TestLog(folder, new StoreConfig(64 << 20, 4 << 20, 0, 0, 0))) {
            long allocated = 0;
            for (int i = 0; i < 3; i++) {
                test.append(TestLog.bytes(2 << 20));
                test.log.allocateAhead();
                test.log.makeRoomFor(TestLog.bytes(4 << 20));
                allocated = test.log.diskBytes();
                assertThat(allocated).isGreaterThan((i + 1) * (6L << 20));

                test.reopen();

                assertThat(test.log.diskBytes()).isEqualTo(allocated);
            }
        }
    }

    @Test
    void tooFewFileHandlesAreNotCalledAFullDisk() {
        LogLimits limits = new LogLimits("orders", TestLog.SMALL);
        LogGrowth growth = new LogGrowth(limits, new DiskSpace(limits, () -> 1 << 30));

        StoreException refusal = growth.full(new IOException("/data/x: Too many open files"), 100);

        assertThat(refusal.code()).isEqualTo(ErrorCode.BUSY);
        assertThat(refusal)
                .hasMessageContaining("raise the limit of open files")
                .hasMessageNotContaining("disk");
        assertThat(growth.full(new IOException("No space left on device"), 100).code())
                .isEqualTo(ErrorCode.STORAGE_FULL);
    }

    @Test
    void theDisksReserveIsNeverUsedAndAppendsGoOnOnceThereIsSpace() {
        StoreConfig config = new StoreConfig(1 << 20, 1 << 20, 0, 0, 64 << 20);
        try (TestLog test = new TestLog(folder, config)) {
            test.append(TestLog.bytes(1000));
            test.usableBytes = 64 << 20;

            assertThatThrownBy(() -> fill(test))
                    .isInstanceOfSatisfying(
                            StoreException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.STORAGE_FULL))
                    .hasMessageContaining("usableBytes=67108864")
                    .hasMessageContaining("disk-reserve=67108864");
            long lastId = test.log.lastId();
            assertThat(test.readAll().events()).hasSize((int) lastId);

            test.usableBytes = 1 << 30;
            assertThat(test.append("there is space")).isEqualTo(lastId + 1);
        }
    }

    @Test
    void aFailedAllocationAheadIsNotAskedForAgainUntilThereWasRoom() {
        try (TestLog test = new TestLog(folder, new StoreConfig(8 << 20, 1 << 20, 0, 0, 1 << 20))) {
            while (!test.log.lowOnRoom()) {
                test.append(TestLog.bytes(1000));
            }
            test.usableBytes = 0;

            test.log.allocateAhead();

            assertThat(test.log.lowOnRoom()).isFalse();
            test.usableBytes = 1 << 30;
            test.log.makeRoomFor(TestLog.bytes(1 << 20));
            assertThat(test.log.hasRoomFor(TestLog.bytes(1 << 20))).isTrue();
        }
    }

    @Test
    void anEventOrEnvelopeThatIsTooLargeIsRefused() {
        try (TestLog test = new TestLog(folder, new StoreConfig(1 << 20, 1000, 0, 0, 0))) {
            Payload manyHeaders = new Payload("b", Map.of("k", "v".repeat(20_000)), ByteBuffer.allocate(1));
            Payload longType = new Payload("b".repeat(256), Map.of(), ByteBuffer.allocate(1));

            assertThatThrownBy(() -> test.append(TestLog.bytes(1001)))
                    .hasMessage("event refused: pipe=orders, payloadBytes=1001, limit=1000");
            for (Payload payload : List.of(manyHeaders, longType)) {
                assertThatThrownBy(() -> test.append(new EventGroup(List.of(payload), null, 0)))
                        .isInstanceOfSatisfying(
                                StoreException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.TOO_LARGE));
            }
            assertThat(test.append(TestLog.bytes(1000))).isEqualTo(1);
        }
    }

    @Test
    void aGroupLargerThanASegmentIsStoredWhole() {
        try (TestLog test = new TestLog(folder)) {
            byte[] kilobytes = new byte[600 << 10];
            Payload payload = new Payload("b", Map.of(), ByteBuffer.wrap(kilobytes));

            test.append("before");
            test.append(new EventGroup(List.of(payload, payload, payload), null, 0));
            test.append("behind");

            assertThat(test.readAll().events()).hasSize(5);
            assertThat(test.log.segments()).hasSize(3);
        }
    }

    /** As a pipe does it: room is allocated by another thread while events are appended and read. */
    @Test
    void roomIsAllocatedByAnotherThreadWhileEventsAreAppended() throws Exception {
        ExecutorService disk = Executors.newSingleThreadExecutor();
        Random random = new Random(3);
        try (TestLog test = new TestLog(folder, new StoreConfig(4 << 20, 4 << 20, 0, 0, 0));
                EventTailer tailer = test.log.openTailer()) {
            Future<?> ahead = CompletableFuture.completedFuture(null);
            int read = 0;
            for (int i = 1; i <= 20_000; i++) {
                EventGroup group = TestLog.bytes(random.nextInt(2_000));
                if (!test.log.hasRoomFor(group)) {
                    disk.submit(() -> test.log.makeRoomFor(group)).get();
                } else if (test.log.lowOnRoom() && ahead.isDone()) {
                    ahead = disk.submit(test.log::allocateAhead);
                }
                assertThat(test.log.append(group)).isEqualTo(i);
                read += TestLog.readAll(tailer).events().size();
            }
            ahead.get();

            assertThat(read).isEqualTo(20_000);
            test.reopen();
            assertThat(test.readAll().events()).hasSize(20_000);
        } finally {
            disk.shutdown();
        }
    }

    private static void fill(TestLog test) {
        for (int i = 0; i < 100_000; i++) {
            test.append(TestLog.bytes(3000));
        }
    }
}
