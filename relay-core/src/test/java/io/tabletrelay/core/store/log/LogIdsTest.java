package io.tabletrelay.core.store.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.IdRange;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One id, one event, for ever; and a publish that is repeated is known. */
class LogIdsTest {
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
    void idsGoOnAboveTheMarkWhenTheMachineWasRestarted() {
        test.append("a", "b", "c");
        long mark = test.mark.value();

        test.reopen(0, true);

        assertThat(test.log.lastId()).isEqualTo(mark);
        assertThat(test.log.voidIds()).isEqualTo(mark - 3);
        assertThat(test.log.skipVoid(4)).isEqualTo(mark + 1);
        assertThat(test.append("d")).isEqualTo(mark + 1);
        assertThat(test.readAll().events()).containsOnlyKeys(1L, 2L, 3L, mark + 1);
    }

    @Test
    void voidIdsStayVoidOverFurtherOpens() {
        test.append("a", "b", "c");
        test.reopen(0, true);
        long first = test.append("d");

        test.reopen();
        test.append("e");
        test.reopen();

        assertThat(test.log.voidIds()).isEqualTo(first - 4);
        assertThat(test.log.skipVoid(4)).isEqualTo(first);
        assertThat(test.readAll().events()).containsOnlyKeys(1L, 2L, 3L, first, first + 1);
    }

    @Test
    void voidIdsStayVoidWhenTheProcessDiedBeforeTheFirstAppend() {
        test.append("a");
        test.reopen(0, true);
        EventGroup group = TestLog.group(null, "b");
        test.log.makeRoomFor(group);
        long lastId = test.log.lastId();

        test.reopen();

        assertThat(test.log.lastId()).isEqualTo(lastId);
        assertThat(test.append("b")).isEqualTo(lastId + 1);
        assertThat(test.log.voidIds()).isEqualTo(lastId - 1);
    }

    /** A power cut, then two kills: one before the first append, one while the next segment is born. */
    @Test
    void voidIdsStayVoidWhenTheNextSegmentWasNeverBorn() throws IOException {
        test.append("a");
        test.reopen(0, true);
        test.log.makeRoomFor(TestLog.group(null, "b"));
        long lastId = test.log.lastId();
        Files.createDirectories(SegmentFolder.of(test.folder, 3, lastId + 1).path());

        test.reopen();

        assertThat(test.log.lastId()).isEqualTo(lastId);
        assertThat(test.log.voidIds()).isEqualTo(lastId - 1);
        assertThat(test.append("b")).isEqualTo(lastId + 1);
        assertThat(test.readAll().events()).containsOnlyKeys(1L, lastId + 1);
    }

    @Test
    void idsThatWereShownAreNotGivenAgainThoughTheLogLostThem() {
        test.append("a");

        test.reopen(20, false);

        assertThat(test.append("b")).isGreaterThan(20);
    }

    @Test
    void aLogThatLostAllItsFilesGoesOnAboveTheMark() {
        test.append("a");
        long mark = test.mark.value();
        test.log.segments().forEach(segment -> segment.folder().delete());

        test.reopen();

        assertThat(test.append("b")).isEqualTo(mark + 1);
    }

    @Test
    void theIdMarkIsRaisedBeforeItsIdsAreGiven() {
        for (int i = 0; i < 1000; i++) {
            assertThat(test.append("event")).isLessThanOrEqualTo(test.mark.value());
        }
    }

    /** Each raise waits for the disk, twice: a thousand pipes that become busy at once would wait for nothing else. */
    @Test
    void aBusyLogRaisesItsMarkSeldomAndALogOfFewIdsByLittle() {
        long before = 0;
        int raises = 0;
        for (int i = 1; i <= 20_000; i++) {
            test.append("event");
            if (test.log.lowOnRoom()) {
                test.log.allocateAhead();
            }
            raises += test.mark.value() == before ? 0 : 1;
            before = test.mark.value();
            assertThat(before - i).isLessThanOrEqualTo(Math.max(65, 4 * i + 1));
        }

        assertThat(raises).isLessThanOrEqualTo(8);
    }

    @Test
    void aRepeatedPublishIsKnownAfterOpensAndManySegments() {
        test.append(TestLog.group(new ProducerSequence("p", 4), "a", "b"));
        test.append(TestLog.group(new ProducerSequence("q", 1), "c"));
        for (int i = 0; i < 3; i++) {
            test.reopen();
            test.append("other");
        }
        test.reopen();

        assertThat(test.log.lastSequence("p")).isEqualTo(4);
        assertThat(test.log.idsOf(new ProducerSequence("p", 4))).isEqualTo(new IdRange(1, 2));
        assertThat(test.log.idsOf(new ProducerSequence("q", 1))).isEqualTo(new IdRange(3, 3));
        assertThat(test.log.idsOf(new ProducerSequence("p", 3))).isNull();
        assertThat(test.log.lastSequence("r")).isZero();
    }

    @Test
    void anyOfAProducersLast64PublishesIsKnownByItsIds() {
        for (int sequence = 1; sequence <= 100; sequence++) {
            test.append(TestLog.group(new ProducerSequence("p", sequence), "a", "b"));
        }

        assertThat(test.log.idsOf(new ProducerSequence("p", 100))).isEqualTo(new IdRange(199, 200));
        assertThat(test.log.idsOf(new ProducerSequence("p", 37))).isEqualTo(new IdRange(73, 74));
        assertThat(test.log.idsOf(new ProducerSequence("p", 36))).isNull();
        test.reopen();
        assertThat(test.log.idsOf(new ProducerSequence("p", 37))).isEqualTo(new IdRange(73, 74));
        test.append("a new segment remembers the last only");
        test.reopen();
        assertThat(test.log.idsOf(new ProducerSequence("p", 100))).isEqualTo(new IdRange(199, 200));
        assertThat(test.log.idsOf(new ProducerSequence("p", 99))).isNull();
    }

    @Test
    void anyPublishThatIsKeptIsFoundByItsIds() {
        for (int sequence = 1; sequence <= 300; sequence++) {
            test.append(TestLog.group(new ProducerSequence("p", sequence), "a", "b"));
            test.append(TestLog.group(new ProducerSequence("q", sequence), "c"));
            if (sequence % 100 == 0) {
                test.reopen();
            }
        }

        for (int sequence : new int[] {1, 2, 99, 100, 101, 200, 201, 299, 300}) {
            long first = 3L * sequence - 2;
            assertThat(test.log.findIdsOf(new ProducerSequence("p", sequence)))
                    .isEqualTo(new IdRange(first, first + 1));
            assertThat(test.log.findIdsOf(new ProducerSequence("q", sequence)))
                    .isEqualTo(new IdRange(first + 2, first + 2));
        }
        assertThat(test.log.findIdsOf(new ProducerSequence("p", 301))).isNull();
        assertThat(test.log.findIdsOf(new ProducerSequence("r", 1))).isNull();
    }

    @Test
    void aProducersPublishBeforeAGapIsForgotten() {
        for (long sequence : new long[] {1, 2, 3, 7, 8, 8}) {
            test.append(TestLog.group(new ProducerSequence("p", sequence), "a"));
        }

        assertThat(test.log.idsOf(new ProducerSequence("p", 8))).isEqualTo(new IdRange(6, 6));
        assertThat(test.log.idsOf(new ProducerSequence("p", 3))).isNull();
    }

    @Test
    void aProducerIsForgottenAfterSevenDaysWithoutUse() {
        test.append(TestLog.group(new ProducerSequence("p", 4), "a"));
        test.reopen();
        test.now = test.now.plus(Duration.ofDays(8));
        test.append("b");

        test.reopen();

        assertThat(test.log.lastSequence("p")).isZero();
    }

    @Test
    void theProducersUsedLastAreRemembered() {
        ProducerTable table = new ProducerTable();
        for (int i = 0; i < ProducerTable.CAPACITY; i++) {
            table.stored(new ProducerTable.Entry("p" + i, 1, new IdRange(i, i), 0));
        }
        table.stored(new ProducerTable.Entry("p0", 2, new IdRange(1, 1), 0));

        table.stored(new ProducerTable.Entry("new", 1, new IdRange(2, 2), 0));

        assertThat(table.lastSequence("p1")).isZero();
        assertThat(List.of(table.lastSequence("p0"), table.lastSequence("p2"), table.lastSequence("new")))
                .containsExactly(2L, 1L, 1L);
    }

    /** BR-003: all is consumed, then the process dies. BR-028: ids start again at 1 after a restart. */
    @Test
    void idsGoOnAfterARestart() {
        for (int i = 0; i < 5; i++) {
            test.append("first " + i);
        }

        test.reopen();

        assertThat(test.log.firstId()).isEqualTo(1);
        assertThat(test.append("second")).isEqualTo(6);
    }
}
