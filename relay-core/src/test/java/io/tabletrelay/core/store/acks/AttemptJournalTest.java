package io.tabletrelay.core.store.acks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tabletrelay.core.store.StoreException;
import io.tabletrelay.core.store.acks.AttemptJournal.Attempt;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AttemptJournalTest {
    @TempDir
    private Path folder;

    private Path file;

    @BeforeEach
    void nameTheFile() {
        file = folder.resolve("subscriptions").resolve("default.attempts");
    }

    @Test
    void aJournalThatWasNeverNeededHasNoFile() {
        AttemptJournal journal = AttemptJournal.open(file);

        journal.forget(5);
        journal.flush();

        assertThat(journal.dirty()).isFalse();
        assertThat(journal.size()).isZero();
        assertThat(file.getParent()).doesNotExist();
    }

    @Test
    void whatWasFlushedIsThereAfterReopening() {
        AttemptJournal journal = AttemptJournal.open(file);
        journal.record(7, 1, 1000, "bad value");
        journal.record(3, 2, 2000, "timeout");
        journal.flush();
        journal.record(7, 2, 3000, "still bad");
        journal.record(9, 1, 1, "");
        journal.forget(3);
        journal.flush();

        AttemptJournal reopened = AttemptJournal.open(file);

        assertThat(all(reopened)).containsExactly(new Attempt(7, 2, 3000, "still bad"), new Attempt(9, 1, 1, ""));
        assertThat(reopened.attempt(7)).isEqualTo(new Attempt(7, 2, 3000, "still bad"));
        assertThat(reopened.attempt(3)).isNull();
        assertThat(reopened.dirty()).isFalse();
        assertThat(reopened.cutBytes()).isZero();
    }

    @Test
    void whatWasNotFlushedIsSeenAtOnceAndDirty() {
        AttemptJournal journal = AttemptJournal.open(file);

        journal.record(7, 1, 1000, "bad value");

        assertThat(journal.attempt(7)).isNotNull();
        assertThat(journal.dirty()).isTrue();
        assertThat(AttemptJournal.open(file).size()).isZero();
        journal.flush();
        assertThat(journal.dirty()).isFalse();
    }

    @Test
    void aLongReasonIsCutBetweenCharacters() {
        AttemptJournal journal = AttemptJournal.open(file);

        journal.record(1, 1, 1, "x" + "ä".repeat(1000));
        journal.record(2, 1, 1, "😀".repeat(125));
        journal.flush();

        List<Attempt> read = all(AttemptJournal.open(file));
        assertThat(read.get(0).reason()).isEqualTo("x" + "ä".repeat(249));
        assertThat(read.get(1).reason()).isEqualTo("😀".repeat(125));
        assertThat(read.get(1).reason().getBytes(StandardCharsets.UTF_8)).hasSize(500);
        assertThat(all(journal)).isEqualTo(read);
    }

    @Test
    void aFlushThatTheDiskRefusesIsMadeUpForByTheNext() throws IOException {
        AttemptJournal journal = AttemptJournal.open(file);
        Files.createFile(file.getParent());
        journal.record(1, 1, 10, "first");
        journal.record(2, 1, 20, "second");

        assertThatThrownBy(journal::flush).isInstanceOf(StoreException.class).hasMessageContaining("path=" + file);
        assertThat(journal.dirty()).isTrue();
        journal.record(2, 2, 30, "newer");
        Files.delete(file.getParent());
        journal.flush();

        assertThat(journal.dirty()).isFalse();
        assertThat(all(AttemptJournal.open(file)))
                .containsExactly(new Attempt(1, 1, 10, "first"), new Attempt(2, 2, 30, "newer"));
    }

    @Test
    void anAppendReplacesWhatABrokenOneLeft() throws IOException {
        AttemptJournal journal = AttemptJournal.open(file);
        journal.record(1, 1, 10, "first");
        journal.flush();
        byte[] whole = Files.readAllBytes(file);
        journal.record(2, 1, 10, "a long reason that will not be whole");
        journal.flush();
        byte[] longer = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(longer, longer.length - 1));

        AttemptJournal cut = AttemptJournal.open(file);
        assertThat(cut.cutBytes()).isEqualTo(longer.length - whole.length - 1);
        cut.record(3, 1, 10, "");
        cut.flush();

        assertThat(all(AttemptJournal.open(file)))
                .containsExactly(new Attempt(1, 1, 10, "first"), new Attempt(3, 1, 10, ""));
        assertThat(AttemptJournal.open(file).cutBytes()).isZero();
    }

    @Test
    void aFileThatIsNoJournalIsSetAside() throws IOException {
        Files.createDirectory(file.getParent());
        Files.writeString(file, "not a journal");

        AttemptJournal journal = AttemptJournal.open(file);
        journal.record(1, 1, 1, "");
        journal.flush();

        assertThat(journal.damagedFile()).hasContent("not a journal");
        assertThat(AttemptJournal.open(file).size()).isEqualTo(1);
    }

    @Test
    void theFileDoesNotGrowWithHistory() throws IOException {
        AttemptJournal journal = AttemptJournal.open(file);
        long largest = 0;

        for (int round = 0; round < 5000; round++) {
            journal.record(round % 10, 1 + round, round, "the same old reason");
            journal.forget((round + 3) % 10);
            journal.flush();
            largest = Math.max(largest, Files.size(file));
        }

        assertThat(largest).isBetween(AttemptJournal.COMPACT_FROM_BYTES / 2L, (long) AttemptJournal.COMPACT_FROM_BYTES);
        assertThat(all(AttemptJournal.open(file))).isEqualTo(all(journal));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void theJournalAgreesWithAMap(long seed) {
        Random random = new Random(seed);
        TreeMap<Long, Attempt> expected = new TreeMap<>();
        AttemptJournal journal = AttemptJournal.open(file);

        for (int i = 0; i < 100_000; i++) {
            long id = 1L + random.nextInt(300);
            if (random.nextInt(3) > 0) {
                Attempt attempt =
                        new Attempt(id, 1 + random.nextInt(20), random.nextLong(), "r".repeat(random.nextInt(40)));
                journal.record(id, attempt.failedDeliveries(), attempt.dueAtMillis(), attempt.reason());
                expected.put(id, attempt);
            } else {
                journal.forget(id);
                expected.remove(id);
            }
            if (random.nextInt(200) == 0) {
                journal.flush();
                journal = random.nextInt(4) == 0 ? AttemptJournal.open(file) : journal;
                assertThat(all(journal))
                        .as("seed=%d, operation=%d", seed, i)
                        .containsExactlyElementsOf(expected.values());
            }
        }
    }

    @Test
    void noChangeIsLostBetweenTheTransferThreadAndFlushesThatFailAtFirst() throws Exception {
        AttemptJournal journal = AttemptJournal.open(file);
        Path inTheWay = Files.createFile(file.getParent());
        AtomicBoolean stopped = new AtomicBoolean();
        ExecutorService io = Executors.newSingleThreadExecutor();
        Future<?> flushing = io.submit(() -> flushUntil(stopped, journal));

        for (int id = 1; id <= 20_000; id++) {
            journal.record(id, 1, id, "");
            journal.record(id, 2, id, "");
            if (id % 3 == 0) {
                journal.forget(id);
            }
            if (id == 10_000) {
                Files.delete(inTheWay);
            }
        }
        stopped.set(true);
        flushing.get();
        io.shutdown();
        journal.flush();

        assertThat(all(AttemptJournal.open(file))).isEqualTo(all(journal));
    }

    private static void flushUntil(AtomicBoolean stopped, AttemptJournal journal) {
        while (!stopped.get()) {
            try {
                journal.flush();
            } catch (StoreException e) {
                assertThat(journal.dirty()).isTrue();
            }
        }
    }

    private static List<Attempt> all(AttemptJournal journal) {
        List<Attempt> attempts = new ArrayList<>();
        journal.forEach(attempts::add);
        return attempts;
    }
}
