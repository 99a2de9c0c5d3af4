package io.tabletrelay.core.store.log;

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
 */
record RecoveredLog(
        SegmentList segments,
        int lastNumber,
        long lastValidId,
        long lastWrittenId,
        long voidIds,
        boolean idsUncertain,
        ProducerTable producers) {
    RecoveredLog with(SegmentList others) {
        return new RecoveredLog(others, lastNumber, lastValidId, lastWrittenId, voidIds, idsUncertain, producers);
    }
}
