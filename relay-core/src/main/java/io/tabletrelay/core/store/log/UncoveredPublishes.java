package io.tabletrelay.core.store.log;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * What appends that are not on disk yet have changed in the table of producers, so that it can be taken back.
 *
 * <p>Threading: confined to the thread that appends.
 */
final class UncoveredPublishes {
    private record Change(long lastId, String producer, ProducerTable.@Nullable Entry before) {}

    private final ProducerTable producers;
    private final ArrayDeque<Change> changes = new ArrayDeque<>();

    UncoveredPublishes(ProducerTable producers) {
        this.producers = producers;
    }

    /** Remembers the publish, and how to forget it until it is covered; ids up to that one are. */
    void stored(ProducerTable.Entry entry, long coveredId) {
        while (!changes.isEmpty() && changes.peekFirst().lastId() <= coveredId) {
            changes.removeFirst();
        }
        ProducerTable.Entry before = producers.stored(entry);
        if (entry.ids().last() > coveredId) {
            changes.addLast(new Change(entry.ids().last(), entry.producer(), before));
        }
    }

    /** Forgets all publishes above that id. */
    void takeBack(long coveredId) {
        for (Change change = changes.pollLast(); change != null; change = changes.pollLast()) {
            if (change.lastId() > coveredId) {
                producers.takeBack(change.producer(), change.before());
            }
        }
    }
}
