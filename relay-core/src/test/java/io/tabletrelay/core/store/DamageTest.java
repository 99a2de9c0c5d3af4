package io.tabletrelay.core.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.core.store.AttemptJournal.Attempt;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every byte of every small file is damaged, and files are cut and padded. */
class DamageTest {
    private static final long MAX_SPREAD_IDS = 1 << 16;

    @TempDir
    private Path folder;

    @Test
    void aRingWithOneWrongByteSettlesNothingThatWasNotSettled() throws IOException {
        Path file = folder.resolve("ring.settled");
        BitSet settled = new BitSet();
        SettledIds ids = SettledIds.open(file, 1, 0, MAX_SPREAD_IDS);
        for (int id = 1; id <= 20_000; id++) {
            ids.raiseDeliveredUpTo(id);
            if (id % 7 != 0 || id < 16_000) {
                ids.settle(id);
                settled.set(id);
            }
        }
        byte[] whole = Files.readAllBytes(file);
        int redelivered = 0;
        int setAside = 0;

        for (int at = 0; at < whole.length; at++) {
            for (int flip : new int[] {1 << at % 8, 0xFF}) {
                Files.write(file, withFlip(whole, at, flip));
                SettledIds damaged = SettledIds.open(file, 1, 20_000, MAX_SPREAD_IDS);

                redelivered += countUnsettled(damaged, settled, "at=" + at + ", flip=" + flip);
                setAside += removeSetAside(damaged.damagedFile());
            }
        }

        assertThat(redelivered).isPositive();
        assertThat(setAside).isEqualTo(2 * 24);
    }

    @Test
    void aRingOfAnyOtherLengthIsSetAside() throws IOException {
        Path file = folder.resolve("ring.settled");
        SettledIds ids = SettledIds.open(file, 1, 0, MAX_SPREAD_IDS);
        ids.raiseDeliveredUpTo(1000);
        ids.settle(500);
        byte[] whole = Files.readAllBytes(file);

        for (int length = 0; length <= 2 * whole.length; length += length < 128 ? 1 : 64) {
            if (length != whole.length) {
                Files.write(file, Arrays.copyOf(whole, length));
                SettledIds damaged = SettledIds.open(file, 1, 1000, MAX_SPREAD_IDS);

                assertThat(damaged.isSettled(500)).isFalse();
                assertThat(removeSetAside(damaged.damagedFile())).isEqualTo(1);
            }
        }
    }

    @Test
    void aJournalWithOneWrongByteKeepsTheRecordsBeforeItAndInventsNone() throws IOException {
        Path file = folder.resolve("journal.attempts");
        AttemptJournal journal = AttemptJournal.open(file);
        Map<Long, Attempt> attempts = new HashMap<>();
        for (long id = 1; id <= 8; id++) {
            journal.record(id, (int) id, 1000 * id, "why " + id);
            journal.flush();
            attempts.put(id, new Attempt(id, (int) id, 1000 * id, "why " + id));
        }
        byte[] whole = Files.readAllBytes(file);

        for (int at = 0; at < whole.length; at++) {
            for (int bit = 0; bit < 8; bit++) {
                Files.write(file, withFlip(whole, at, 1 << bit));
                AttemptJournal damaged = AttemptJournal.open(file);

                damaged.forEach(attempt -> assertThat(attempts).containsEntry(attempt.id(), attempt));
                boolean inHeader = at < AttemptFormat.HEADER_BYTES;
                assertThat(removeSetAside(damaged.damagedFile())).isEqualTo(inHeader ? 1 : 0);
                assertThat(damaged.size())
                        .isEqualTo(
                                inHeader
                                        ? 0
                                        : (at - AttemptFormat.HEADER_BYTES)
                                                * 8
                                                / (whole.length - AttemptFormat.HEADER_BYTES));
            }
        }
    }

    @Test
    void aJournalCutAnywhereKeepsItsWholeRecordsAndGoesOn() throws IOException {
        Path file = folder.resolve("journal.attempts");
        AttemptJournal journal = AttemptJournal.open(file);
        for (long id = 1; id <= 3; id++) {
            journal.record(id, 1, 5, "reason");
        }
        journal.flush();
        byte[] whole = Files.readAllBytes(file);
        int recordBytes = (whole.length - AttemptFormat.HEADER_BYTES) / 3;

        for (int length = 0; length < whole.length; length++) {
            Files.write(file, Arrays.copyOf(whole, length));
            AttemptJournal cut = AttemptJournal.open(file);
            int kept = Math.max(0, length - AttemptFormat.HEADER_BYTES) / recordBytes;

            assertThat(cut.size()).isEqualTo(kept);
            cut.record(9, 1, 5, "later");
            cut.flush();
            assertThat(AttemptJournal.open(file).size()).isEqualTo(kept + 1);
            assertThat(AttemptJournal.open(file).cutBytes()).isZero();
            removeSetAside(cut.damagedFile());
        }
    }

    @Test
    void aPipeFileWithAnyWrongByteOrLengthFailsThatPipe() throws IOException {
        PipeName name = new PipeName("plant");
        Path pipeFolder = Files.createDirectory(folder.resolve("plant"));
        PipeFolder.create(pipeFolder, new PipeRecord("plant", 3, 1, "OPEN", 1, 1, 0, "boot"))
                .raiseIdMark(4096);
        Path file = pipeFolder.resolve(PipeFolder.FILE_NAME);
        byte[] whole = Files.readAllBytes(file);

        for (int at = 0; at < whole.length; at++) {
            for (int bit = 0; bit < 8; bit++) {
                Files.write(file, withFlip(whole, at, 1 << bit));
                assertFails(pipeFolder, name);
            }
            Files.write(file, Arrays.copyOf(whole, at));
            assertFails(pipeFolder, name);
        }
        Files.write(file, whole);
        assertThat(PipeFolder.load(pipeFolder, name, "boot").idMark()).isEqualTo(4096);
    }

    private static void assertFails(Path pipeFolder, PipeName name) {
        try {
            PipeFolder.load(pipeFolder, name, "boot");
        } catch (StoreException e) {
            assertThat(e.code()).isEqualTo(ErrorCode.PIPE_FAILED);
            assertThat(e.reason()).contains("folder=" + pipeFolder);
            return;
        }
        throw new AssertionError("a damaged pipe.json was read");
    }

    private static int countUnsettled(SettledIds ids, BitSet settled, String when) {
        int unsettled = 0;
        for (int id = 1; id <= 20_100; id++) {
            if (ids.isSettled(id) && !settled.get(id)) {
                throw new AssertionError("phantom: " + when + ", id=" + id);
            }
            if (settled.get(id) && !ids.isSettled(id)) {
                unsettled++;
            }
        }
        return unsettled;
    }

    private static int removeSetAside(@Nullable Path damagedFile) throws IOException {
        if (damagedFile == null) {
            return 0;
        }
        Files.delete(damagedFile);
        return 1;
    }

    private static byte[] withFlip(byte[] whole, int at, int flip) {
        byte[] flipped = whole.clone();
        flipped[at] ^= (byte) flip;
        return flipped;
    }
}
