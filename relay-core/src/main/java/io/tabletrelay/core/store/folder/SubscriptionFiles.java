package io.tabletrelay.core.store.folder;

import io.tabletrelay.core.store.acks.AttemptJournal;
import io.tabletrelay.core.store.acks.SettledIds;

/**
 * One subscription's files, open. After a reset it has others.
 *
 * <p>Threading: immutable; its parts are used as they say.
 *
 * @param createdMillis ms since the epoch; 0: not known
 * @param start its first event: every id below counts as settled
 * @param lettersBefore dead letters up to this number were made before it began, or began anew
 */
public record SubscriptionFiles(
        String name, long createdMillis, long start, long lettersBefore, SettledIds settled, AttemptJournal attempts) {
    static SubscriptionFiles of(SubscriptionRecord record, SettledIds settled, AttemptJournal attempts) {
        return new SubscriptionFiles(
                record.name(), record.createdMillis(), record.start(), record.lettersBefore(), settled, attempts);
    }
}
