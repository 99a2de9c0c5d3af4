package io.tabletrelay.core.store.log;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.tabletrelay.core.store.IdRange;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** No damage makes a wrong payload, gives an id twice, keeps the log from opening, or goes unsaid. */
class DamagedSegmentTest {
    private static final int EVENTS = 50;
    private static final int INDEX_PAGE_BYTES = 8224;

    @TempDir
    Path folder;

    private DamageTrial trial;

    @BeforeEach
    void write() throws IOException {
        logger().setLevel(Level.OFF);
        trial = new DamageTrial(folder.resolve("events"), EVENTS);
    }

    @AfterEach
    void speakAgain() {
        logger().setLevel(null);
    }

    @Test
    void aSegmentIsBornWithWhatIsKnownOfIt() throws IOException {
        DamageTrial.Outcome outcome = trial.run(file -> {});

        assertThat(outcome).isEqualTo(new DamageTrial.Outcome(trial.ids(), List.of(), EVENTS + 1));
        assertThat(trial.lengthAt(SegmentFile.BIRTH_BYTES)).isEqualTo(64);
    }

    @Test
    void aSegmentCutInItsLast200BytesKeepsWhatIsBeforeTheCut() throws IOException {
        for (int cut = trial.end() - 200; cut < trial.end(); cut += 9) {
            int length = cut;

            DamageTrial.Outcome outcome = trial.run(file -> file.setLength(length));

            int whole = (int) IntStream.rangeClosed(1, EVENTS)
                    .filter(id -> trial.wordOf(id) + Integer.BYTES + trial.lengthAt(trial.wordOf(id)) <= length)
                    .count();
            assertThat(outcome.readIds()).as("cut at %d", length).hasSize(whole);
            assertThat(outcome.damaged()).containsExactly(new IdRange(whole + 1, EVENTS));
        }
    }

    @Test
    void aFlippedByteOfARecordLosesThatRecordOnly() throws IOException {
        int first = trial.wordOf(20);
        int padding = first + Integer.BYTES + trial.lengthAt(first);
        for (int i = first; i < trial.wordOf(21); i += 3) {
            int position = i;

            DamageTrial.Outcome outcome = trial.run(file -> flip(file, position));

            List<IdRange> lost = position < padding ? List.of(new IdRange(20, 20)) : List.of();
            assertThat(outcome.damaged()).as("byte %d", position - first).isEqualTo(lost);
        }
    }

    @Test
    void aFlippedByteOfTheSegmentHeaderLosesNoEvent() throws IOException {
        for (int i = SegmentFile.BIRTH_BYTES + 4; i < trial.wordOf(1); i += 5) {
            int position = i;

            DamageTrial.Outcome outcome = trial.run(file -> flip(file, position));

            assertThat(outcome.readIds()).isEqualTo(trial.ids());
        }
    }

    @Test
    void aRunOfZerosInTheMiddleLosesWhatItCovers() throws IOException {
        int from = trial.wordOf(18) + 10;

        DamageTrial.Outcome outcome = trial.run(file -> write(file, from, new byte[512]));

        int firstWhole = IntStream.rangeClosed(1, EVENTS)
                .filter(id -> trial.wordOf(id) >= from + 512)
                .findFirst()
                .orElseThrow();
        assertThat(outcome.damaged()).containsExactly(new IdRange(18, firstWhole - 1));
    }

    /** Chronicle's reader stops at such a word, jumps over it or takes garbage for a message; 0 is the segment's header. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 50})
    void aDamagedWordLosesItsRecordOnlyAndStopsNoReader(int id) throws IOException {
        for (WordDamage damage : WordDamage.values()) {
            DamageTrial.Outcome outcome = trial.runOverBoots(file -> damage.to(file, trial.wordOf(id)));

            List<IdRange> lost = id == 0 ? List.of() : List.of(new IdRange(id, id));
            assertThat(outcome).as("%s", damage).isEqualTo(new DamageTrial.Outcome(trial.ids(id), lost, EVENTS + 1));
        }
    }

    /** What a killed process leaves behind its last append, or Chronicle's mark that nothing more comes. */
    @Test
    void whateverStandsBehindTheLastEventIsNoEvent() throws IOException {
        int end = trial.end() + (-trial.end() & 3);
        byte[] dirt = new byte[100_000];
        new Random(1).nextBytes(dirt);
        byte[] unfinished = trial.recordOf(7);
        unfinished[3] |= (byte) 0x80;
        byte[] withoutWord = trial.recordOf(7);
        Arrays.fill(withoutWord, 0, Integer.BYTES, (byte) 0);
        byte[] dirtBehindWord = dirt.clone();
        Arrays.fill(dirtBehindWord, 0, Integer.BYTES, (byte) 0);
        for (byte[] bytes : List.of(
                dirt, dirtBehindWord, unfinished, withoutWord, trial.recordOf(7), new byte[] {0, 0, 0, (byte) 0xC0})) {
            DamageTrial.Outcome outcome = trial.runOverBoots(file -> write(file, end, bytes));

            assertThat(outcome).isEqualTo(new DamageTrial.Outcome(trial.ids(), List.of(), EVENTS + 1));
        }
    }

    @Test
    void aSegmentWhoseFirstPageIsLostEndsWhereItEndedWhenTheLogWasClosed() throws IOException {
        DamageTrial.Outcome outcome = trial.runOverBoots(file -> write(file, 0, new byte[4096]));

        assertThat(outcome).isEqualTo(new DamageTrial.Outcome(trial.ids(), List.of(), EVENTS + 1));
    }

    /** Nobody can tell then where the segment ends: ids above its last are named, and not given again. */
    @Test
    void aSegmentWhoseFirstPageIsLostAfterAKillIsReadAndNeverWrittenOver() throws IOException {
        trial.forgetEnd();

        DamageTrial.Outcome outcome = trial.runOverBoots(file -> write(file, 0, new byte[4096]));

        assertThat(outcome.readIds()).isEqualTo(trial.ids());
        assertThat(outcome.damaged()).containsExactly(new IdRange(EVENTS + 1, outcome.appendedId() - 1));
    }

    @ParameterizedTest
    @ValueSource(ints = {4096, 8192, 12_288, 16_384, 20_480})
    void aPageThatIsLostLosesOnlyTheEventsInIt(int page) throws IOException {
        DamageTrial.Outcome outcome = trial.runOverBoots(file -> write(file, page, new byte[4096]));

        int[] lost = IntStream.rangeClosed(1, EVENTS)
                .filter(id -> trial.wordOf(id) < page + 4096 && trial.wordOf(id) + trial.recordOf(id).length > page)
                .toArray();
        assertThat(outcome.readIds()).isEqualTo(trial.ids(lost));
        assertThat(outcome.damaged())
                .isEqualTo(lost.length == 0 ? List.of() : List.of(new IdRange(lost[0], lost[lost.length - 1])));
    }

    /** The machine went down after the records were on disk, before what Chronicle keeps of them was. */
    @ParameterizedTest
    @ValueSource(ints = {4096, SegmentFile.BIRTH_BYTES})
    void pagesOfAnEarlierTimeLoseNothing(int bytes) throws IOException {
        DamageTrial.Outcome outcome = trial.runOverBoots(file -> write(file, 0, trial.early(bytes)));

        assertThat(outcome).isEqualTo(new DamageTrial.Outcome(trial.ids(), List.of(), EVENTS + 1));
    }

    /** An index that points nowhere, at another event, into an event, or behind the file. */
    @Test
    void anIndexOfGarbageLosesNothing() throws IOException {
        long[] garbage = {0, -1, 1, Long.MAX_VALUE, 1L << 40, trial.wordOf(20), trial.wordOf(20) + 5, trial.end() + 100
        };
        for (int page : new int[] {0, 1}) {
            int end = SegmentFile.BIRTH_BYTES - page * INDEX_PAGE_BYTES;
            for (long slot : garbage) {
                ByteBuffer slots = ByteBuffer.allocate(SegmentQueue.INDEX_COUNT * Long.BYTES)
                        .order(ByteOrder.LITTLE_ENDIAN);
                while (slots.hasRemaining()) {
                    slots.putLong(slot);
                }

                DamageTrial.Outcome outcome =
                        trial.runOverBoots(file -> write(file, end - slots.capacity(), slots.array()));

                assertThat(outcome)
                        .as("page %d of %d", page, slot)
                        .isEqualTo(new DamageTrial.Outcome(trial.ids(), List.of(), EVENTS + 1));
            }
        }
    }

    /** Dirty pages became an index page: Chronicle writes slots into garbage, and may write one over an event. */
    @Test
    void anIndexPageOverTheFirstEventsLosesOnlyThose() throws IOException {
        byte[] page = Arrays.copyOfRange(trial.early(SegmentFile.BIRTH_BYTES), 8000, 8512);

        DamageTrial.Outcome outcome = trial.runOverBoots(file -> write(file, trial.wordOf(1), page));

        int firstWhole = IntStream.rangeClosed(1, EVENTS)
                .filter(id -> trial.wordOf(id) >= trial.wordOf(1) + page.length)
                .findFirst()
                .orElseThrow();
        assertThat(outcome.damaged()).containsExactly(new IdRange(1, firstWhole - 1));
    }

    @Test
    void aSegmentFileOfNoOrThreeBytesIsNamed() throws IOException {
        for (int bytes : new int[] {0, 3, 100, 4096, SegmentFile.BIRTH_BYTES}) {
            DamageTrial.Outcome outcome = trial.runOverBoots(file -> file.setLength(bytes));

            assertThat(outcome.readIds()).isEmpty();
            assertThat(outcome.damaged()).as("%d bytes", bytes).hasSize(1);
        }
    }

    /** Half a count of its records is none: ids up to the mark may have been given. */
    @Test
    void aSegmentThatWasCutInChroniclesHeaderAfterAKillIsNamedAndItsIdsAreNotGivenAgain() throws IOException {
        trial.forgetEnd();
        for (int bytes : new int[] {68, 69, 72, 75, 76, 100}) {
            DamageTrial.Outcome outcome = trial.runOverBoots(file -> file.setLength(bytes));

            assertThat(outcome.damaged()).as("%d bytes", bytes).hasSize(1);
            assertThat(outcome.appendedId()).isGreaterThan(EVENTS);
        }
    }

    @Test
    void aSegmentFileThatIsGoneIsNamed() throws IOException {
        DamageTrial.Outcome outcome = trial.runOverBoots(file -> Files.delete(trial.file));

        assertThat(outcome.damaged()).hasSize(1);
        assertThat(outcome.damaged().get(0).last()).isGreaterThanOrEqualTo(EVENTS);
    }

    @Test
    void aFlippedByteAnywhereBeforeTheFirstEventLosesNothingSilently() throws IOException {
        for (int i = 0; i < SegmentFile.BIRTH_BYTES; i += i < 256 ? 19 : 1499) {
            int position = i;

            trial.run(file -> flip(file, position));
        }
    }

    /** Damage is logged loudly, thousands of times here. */
    private static Logger logger() {
        return (Logger) LoggerFactory.getLogger("io.tabletrelay.core.store");
    }

    private static void flip(RandomAccessFile file, int position) throws IOException {
        file.seek(position);
        int value = file.read();
        file.seek(position);
        file.write(value ^ 0xFF);
    }

    private static void write(RandomAccessFile file, int position, byte[] bytes) throws IOException {
        file.seek(position);
        file.write(bytes);
    }
}
