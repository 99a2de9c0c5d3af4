package io.tabletrelay.core.store.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.tabletrelay.api.Payload;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.EventTailer;
import io.tabletrelay.core.store.EventTailer.Step;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ChronicleEventLogTest {
    @TempDir
    Path folder;

    private TestLog test;

    @BeforeEach
    void open() {
        test = new TestLog(folder.resolve("events"));
    }

    @AfterEach
    void close() {
        test.close();
    }

    @Test
    void anOpenedLogWritesNothing() {
        assertThat(test.folder).doesNotExist();
        assertThat(test.log.lastId()).isZero();
        assertThat(test.log.firstId()).isEqualTo(1);
        assertThat(test.readAll().events()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3, 4, 5, 100, 4_096, 65_536, 1 << 20, 4 << 20})
    void aPayloadComesBackAsItWasOfAnySize(int size) {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        Payload payload = new Payload("x/y", Map.of("k", "v", "ü", "€"), ByteBuffer.wrap(bytes));

        test.append(new EventGroup(List.of(payload), new ProducerSequence("p", 1), 42));
        test.reopen();

        try (EventTailer tailer = test.log.openTailer()) {
            assertThat(tailer.nextOpened()).isEqualTo(Step.EVENT);
            assertThat(tailer.id()).isEqualTo(1);
            assertThat(tailer.payload()).isEqualTo(ByteBuffer.wrap(bytes));
            assertThat(tailer.contentType()).isEqualTo("x/y");
            assertThat(tailer.headers()).isEqualTo(payload.headers());
            assertThat(tailer.header("k")).isEqualTo("v");
            assertThat(tailer.header("ke")).isNull();
            assertThat(tailer.appendedAtMillis()).isEqualTo(42);
            assertThat(tailer.nextOpened()).isEqualTo(Step.END);
        }
    }

    /** So it is after a restart. */
    @Test
    void aLargeEventIsReadByAThreadThatHasAppendedNone() throws Exception {
        String large = "x".repeat(500_000);
        test.append(large);
        test.reopen();
        ExecutorService reader = Executors.newSingleThreadExecutor();
        try {
            TestLog.Read read = reader.submit(() -> test.readAll()).get();

            assertThat(read).isEqualTo(new TestLog.Read(Map.of(1L, large), List.of()));
        } finally {
            reader.shutdown();
        }
    }

    @Test
    void idsGoOnOverManyOpens() {
        for (int i = 1; i <= 20; i++) {
            assertThat(test.append("event " + i)).isEqualTo(i);
            test.reopen();
        }

        assertThat(test.readAll().events())
                .hasSize(20)
                .containsEntry(1L, "event 1")
                .containsEntry(20L, "event 20");
        assertThat(test.log.voidIds()).isZero();
    }

    @Test
    void anOlderSegmentIsOpenedOnlyWhereItMayBlock() {
        test.append("a", "b");
        test.reopen();
        test.append("c");

        try (EventTailer tailer = test.log.openTailer()) {
            assertThat(tailer.next()).isEqualTo(Step.OPENING);
            assertThat(tailer.next()).isEqualTo(Step.OPENING);
            tailer.open();
            assertThat(tailer.next()).isEqualTo(Step.EVENT);
            assertThat(tailer.id()).isEqualTo(1);
            tailer.moveTo(3); // in the segment that is written, which is open
            assertThat(tailer.next()).isEqualTo(Step.EVENT);
            assertThat(tailer.id()).isEqualTo(3);
            tailer.moveTo(2);
            assertThat(tailer.next()).isEqualTo(Step.OPENING);
            tailer.open();
            assertThat(tailer.next()).isEqualTo(Step.EVENT);
            assertThat(tailer.id()).isEqualTo(2);
        }
    }

    @Test
    void anAppendedGroupIsNotKeptInMemory() {
        WeakReference<EventGroup> group = new WeakReference<>(TestLog.bytes(1 << 20));
        test.append(Objects.requireNonNull(group.get()));

        await().atMost(Duration.ofSeconds(20)).until(() -> {
            System.gc();
            return group.get() == null;
        });
        assertThat(test.readAll().events()).hasSize(1);
    }

    @Test
    void aTailerSeesWhatIsAppendedAfterItReachedTheEnd() {
        try (EventTailer tailer = test.log.openTailer()) {
            assertThat(tailer.nextOpened()).isEqualTo(Step.END);

            test.append("a");

            assertThat(TestLog.readAll(tailer).events()).containsOnlyKeys(1L);
            test.append("b", "c");
            assertThat(TestLog.readAll(tailer).events()).containsOnlyKeys(2L, 3L);
        }
    }
}
