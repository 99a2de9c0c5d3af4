package io.tabletrelay.core.store.check;

import io.tabletrelay.core.store.EventLog;
import io.tabletrelay.core.store.EventTailer;
import io.tabletrelay.core.store.IdRange;
import io.tabletrelay.core.store.folder.PipeStore;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * All that an open pipe says of itself.
 *
 * <p>Threading: immutable.
 *
 * @param settled of the ids that were given
 * @param attempts how often it failed and why, by id
 * @param lastSequence of the only producer
 */
record PipeState(Log events, Log letters, Set<Long> settled, Map<Long, String> attempts, long lastSequence) {

    /**
     * A log from its first id to its last.
     *
     * <p>Threading: immutable.
     *
     * @param texts payload and envelope, by id
     * @param damaged what was given as damaged
     */
    record Log(Map<Long, String> texts, List<IdRange> damaged, long lastId) {
        static Log of(EventLog log) {
            Log read = new Log(new TreeMap<>(), new ArrayList<>(), log.lastId());
            try (EventTailer tailer = log.openTailer()) {
                EventTailer.Step step = tailer.nextOpened();
                for (; step != EventTailer.Step.END; step = tailer.nextOpened()) {
                    if (step == EventTailer.Step.EVENT) {
                        read.texts.put(tailer.id(), text(tailer));
                    } else {
                        read.damaged.add(new IdRange(tailer.id(), tailer.lastId()));
                    }
                }
            }
            return read;
        }

        private static String text(EventTailer tailer) {
            return StandardCharsets.UTF_8.decode(tailer.payload()) + "|" + tailer.contentType() + "|" + tailer.headers()
                    + "|" + tailer.appendedAtMillis();
        }

        boolean isDamaged(long id) {
            return damaged.stream().anyMatch(range -> range.first() <= id && id <= range.last());
        }
    }

    static PipeState of(PipeStore store) {
        Log events = Log.of(store.log());
        Set<Long> settled = new TreeSet<>();
        for (long id = 1; id <= Math.min(events.lastId(), 500); id++) {
            if (store.settled().isSettled(id)) {
                settled.add(id);
            }
        }
        Map<Long, String> attempts = new TreeMap<>();
        store.attempts()
                .forEach(attempt -> attempts.put(
                        attempt.id(),
                        attempt.failedDeliveries() + " " + attempt.dueAtMillis() + " " + attempt.reason()));
        long lastSequence = store.log().lastSequence(SmallPipe.PRODUCER);
        return new PipeState(events, Log.of(store.deadLetterLog()), settled, attempts, lastSequence);
    }
}
