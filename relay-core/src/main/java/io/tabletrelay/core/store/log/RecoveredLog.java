package io.tabletrelay.core.store.log;

import java.util.List;

/**
 * What was found of a log when it was opened.
 *
 * <p>Threading: immutable, but for the producers, which belong to the log from then on.
 *
 * @param lastNumber highest segment number ever seen; 0: none
 * @param lastValidId highest id that has an event or is known to have lost one
 * @param lastWrittenId highest id ever written, those of a group cut short included
 * @param voidIds how many ids up to lastValidId are void
 * @param idsUncertain the newest segment cannot say where it ended
 * @param forcedId highest id that the newest header says is on disk
 * @param uncovered segments with events above that, of which nobody says that they are on disk
 */
record RecoveredLog(
        SegmentList segments,
        int lastNumber,
        long lastValidId,
        long lastWrittenId,
        long voidIds,
        boolean idsUncertain,
        long forcedId,
        List<Segment> uncovered,
        ProducerTable producers) {
    /** What is found where no event ever was. */
    static RecoveredLog ofNothing(int lastNumber, long lastId, boolean idsUncertain) {
        return new RecoveredLog(
                new SegmentList(List.of()),
                lastNumber,
                lastId,
                lastId,
                0,
                idsUncertain,
                0,
                List.of(),
                new ProducerTable());
    }

    RecoveredLog with(SegmentList others) {
        return new RecoveredLog(
                others, lastNumber, lastValidId, lastWrittenId, voidIds, idsUncertain, forcedId, uncovered, producers);
    }
}
