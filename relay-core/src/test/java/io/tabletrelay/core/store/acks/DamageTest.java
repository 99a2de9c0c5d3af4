package io.tabletrelay.core.store.acks;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.core.store.acks.AttemptJournal.Attempt;
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
        long redelivered = 0;
        int setAside = 0;

        for (int at = 0; at < whole.length; at++) {
            int[] flips = at < SettledFormat.HEADER_BYTES ? new int[] {1 << at % 8, 0xFF} : new int[] {1 << at % 8};
            for (int flip : flips) {
                put(file, withFlip(whole, at, flip));
                SettledIds damaged = SettledIds.open(file, 1, 20_000, MAX_SPREAD_IDS);

                redelivered += countRedelivered(damaged, settled, "at=" + at + ", flip=" + flip);
                setAside += removeSetAside(damaged.damagedFile());
            }
        }

        assertThat(redelivered).isPositive();
        assertThat(setAside).isEqualTo(2 * 24);
    }

    /** It looks longer than the file, as a record does that a kill cut short. */
    @Test
    void aDamagedLengthOfTheLastAttemptIsNoKill() throws IOException {
        Path file = folder.resolve("a.attempts");
        AttemptJournal journal = AttemptJournal.open(file);
        journal.record(1, 2, 5_000, "negative ack");
        journal.record(2, 1, 6_000, "ack timeout");
        journal.flush();
        byte[] whole = Files.readAllBytes(file);
        int length = whole.length - "ack timeout".length() - 22;

        for (int at = length; at < length + Short.BYTES; at++) {
            for (int flip : new int[] {1, 0x20, 0x80, 0xFF}) {
                put(file, withFlip(whole, at, flip));
                AttemptJournal damaged = AttemptJournal.open(file);

                assertThat(damaged.damagedFile()).as("at=%d, flip=%d", at, flip).isNotNull();
                assertThat(damaged.size()).isOne();
                removeSetAside(damaged.damagedFile());
            }
        }
        for (int cut = length - 4; cut < whole.length; cut++) {
            put(file, Arrays.copyOf(whole, cut));

            assertThat(AttemptJournal.open(file).damagedFile())
                    .as("cut to %d", cut)
                    .isNull();
        }
    }

    @Test
    void aPowerCutThatKeptSomeSectorsAndLostOthersSettlesNothingThatWasNotSettled() throws IOException {
        Path file = folder.resolve("ring.settled");
        BitSet settled = new BitSet();
        SettledIds ids = SettledIds.open(file, 1, 0, MAX_SPREAD_IDS);
        settleSome(ids, 1, 30_000, settled);
        byte[] before = Files.readAllBytes(file);
        settleSome(ids, 30_001, 41_000, settled);
        byte[] after = Files.readAllBytes(file);

        int sectorBytes = 512;
        for (int kept = 0; kept < 1 << 8; kept++) {
            byte[] mixed = before.clone();
            for (int sector = 0; sector < 8; sector++) {
                if ((kept & 1 << sector) != 0) {
                    System.arraycopy(after, sector * sectorBytes, mixed, sector * sectorBytes, sectorBytes);
                }
            }
            put(file, mixed);
            SettledIds mix = SettledIds.open(file, 1, 41_000, MAX_SPREAD_IDS);

            assertThat(mix.damagedFile()).isNull();
            for (int id = settled.nextClearBit(1); id <= 41_100; id = settled.nextClearBit(id + 1)) {
                assertThat(mix.isSettled(id)).as("kept=%d, id=%d", kept, id).isFalse();
            }
        }
        assertThat(SettledIds.open(file, 1, 0, MAX_SPREAD_IDS).floor()).isEqualTo(settled.nextClearBit(1) - 1L);
    }

    private static void settleSome(SettledIds ids, int first, int last, BitSet settled) {
        for (int id = first; id <= last; id++) {
            ids.raiseDeliveredUpTo(id);
            if (id < 29_000 || id % 11 != 0) {
                ids.settle(id);
                settled.set(id);
            }
        }
    }

    @Test
    void aRingOfAnyOtherLengthIsSetAside() throws IOException {
        Path file = folder.resolve("ring.settled");
        SettledIds ids = SettledIds.open(file, 1, 0, MAX_SPREAD_IDS);
        ids.raiseDeliveredUpTo(1000);
        ids.settle(500);
        byte[] whole = Files.readAllBytes(file);

        for (int length = 0; length <= 2 * whole.length; length += length < 128 ? 4 : 448) {
            if (length != whole.length) {
                put(file, Arrays.copyOf(whole, length));
                SettledIds damaged = SettledIds.open(file, 1, 1000, MAX_SPREAD_IDS);

                assertThat(damaged.isSettled(500)).isFalse();
                assertThat(removeSetAside(damaged.damagedFile())).isEqualTo(1);
            }
        }
    }

    @Test
    void aJournalWithOneWrongByteKeepsTheOtherRecordsAndInventsNone() throws IOException {
        Path file = folder.resolve("journal.attempts");
        AttemptJournal journal = AttemptJournal.open(file);
        Map<Long, Attempt> attempts = new HashMap<>();
        for (long id = 1; id <= 8; id++) {
            journal.record(id, (int) id, 1000 * id, "why " + id);
            journal.flush();
            attempts.put(id, new Attempt(id, (int) id, 1000 * id, "why " + id));
        }
        byte[] whole = Files.readAllBytes(file);
        int recordBytes = (whole.length - AttemptFormat.HEADER_BYTES) / 8;

        for (int at = 0; at < whole.length; at++) {
            for (int bit = 0; bit < 8; bit++) {
                put(file, withFlip(whole, at, 1 << bit));
                AttemptJournal damaged = AttemptJournal.open(file);

                damaged.forEach(attempt -> assertThat(attempts).containsEntry(attempt.id(), attempt));
                boolean inHeader = at < AttemptFormat.HEADER_BYTES;
                assertThat(damaged.size()).isEqualTo(inHeader ? 8 : 7);
                // the last record may look as if it had been cut short by a kill
                int setAside = removeSetAside(damaged.damagedFile());
                if (at < whole.length - recordBytes) {
                    assertThat(setAside).as("at=%d", at).isEqualTo(1);
                }
                damaged.record(9, 1, 5, "later");
                damaged.flush();
                assertThat(AttemptJournal.open(file).size()).isEqualTo(damaged.size());
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
            put(file, Arrays.copyOf(whole, length));
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

    private static long countRedelivered(SettledIds ids, BitSet settled, String when) {
        for (int id = settled.nextClearBit(1); id <= 20_100; id = settled.nextClearBit(id + 1)) {
            if (ids.isSettled(id)) {
                throw new AssertionError("phantom: " + when + ", id=" + id);
            }
        }
        return settled.cardinality() - ids.floor() - ids.settledAboveFloor();
    }

    private static int removeSetAside(@Nullable Path damagedFile) throws IOException {
        if (damagedFile == null) {
            return 0;
        }
        Files.delete(damagedFile);
        return 1;
    }

    /** As a new file: some file systems flush one that was cut to nothing and written again. */
    private static void put(Path file, byte[] content) throws IOException {
        Files.deleteIfExists(file);
        Files.write(file, content);
    }

    private static byte[] withFlip(byte[] whole, int at, int flip) {
        byte[] flipped = whole.clone();
        flipped[at] ^= (byte) flip;
        return flipped;
    }
}
