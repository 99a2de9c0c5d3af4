package io.tabletrelay.core.store.log;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.tabletrelay.core.store.IdRange;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** No damage makes a wrong payload, gives an id twice, keeps the log from opening, or goes unsaid. */
class DamagedSegmentTest {
    private static final int EVENTS = 50;

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
    void aSegmentCutAnywhereInItsLast200BytesKeepsWhatIsBeforeTheCut() throws IOException {
        for (int cut = trial.end() - 200; cut < trial.end(); cut++) {
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
        for (int i = first; i < trial.wordOf(21); i++) {
            int position = i;

            DamageTrial.Outcome outcome = trial.run(file -> flip(file, position));

            List<IdRange> lost = position < padding ? List.of(new IdRange(20, 20)) : List.of();
            assertThat(outcome.damaged()).as("byte %d", position - first).isEqualTo(lost);
        }
    }

    @Test
    void aFlippedByteOfTheSegmentHeaderLosesNoEvent() throws IOException {
        for (int i = SegmentFile.BIRTH_BYTES + 4; i < trial.wordOf(1); i++) {
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

    @Test
    void unfinishedWordsAndEndMarksInTheMiddleStopNoReader() throws IOException {
        for (byte[] word :
                List.of(new byte[4], new byte[] {60, 0, 0, (byte) 0x80}, new byte[] {0, 0, 0, (byte) 0xC0})) {
            DamageTrial.Outcome outcome = trial.run(file -> write(file, trial.wordOf(40), word));

            assertThat(outcome.damaged()).containsExactly(new IdRange(40, 40));
            assertThat(outcome.readIds()).isEqualTo(trial.ids(40));
        }
    }

    @Test
    void aSegmentWhoseFirstPageIsLostIsReadAndNeverWrittenOver() throws IOException {
        DamageTrial.Outcome outcome = trial.run(file -> write(file, 0, new byte[4096]));

        assertThat(outcome.readIds()).isEqualTo(trial.ids());
    }

    @Test
    void aSegmentFileOfNoOrThreeBytesIsNamed() throws IOException {
        for (int bytes : new int[] {0, 3, 100, 4096, SegmentFile.BIRTH_BYTES}) {
            DamageTrial.Outcome outcome = trial.run(file -> file.setLength(bytes));

            assertThat(outcome.readIds()).isEmpty();
            assertThat(outcome.damaged()).as("%d bytes", bytes).hasSize(1);
        }
    }

    @Test
    void aSegmentFileThatIsGoneIsNamed() throws IOException {
        DamageTrial.Outcome outcome = trial.run(file -> Files.delete(trial.file));

        assertThat(outcome.damaged()).hasSize(1);
        assertThat(outcome.damaged().get(0).last()).isGreaterThanOrEqualTo(EVENTS);
    }

    @Test
    void aFlippedByteAnywhereBeforeTheFirstEventLosesNothingSilently() throws IOException {
        for (int i = 0; i < SegmentFile.BIRTH_BYTES; i += i < 256 ? 5 : 499) {
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
