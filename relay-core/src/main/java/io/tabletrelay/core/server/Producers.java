package io.tabletrelay.core.server;

import io.tabletrelay.api.PipeName;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The newest connection of each producer name.
 *
 * <p>Threading: thread-safe by its concurrent map.
 */
final class Producers {
    private record Key(PipeName pipe, String producer) {}

    private final Map<Key, ProducingSide> newest = new ConcurrentHashMap<>();

    /** The one that had the name until now is told. */
    void enter(PipeName pipe, String producer, ProducingSide side) {
        ProducingSide before = newest.put(new Key(pipe, producer), side);
        if (before != null) {
            before.takenOver();
        }
    }

    /** Does nothing if another one has the name by now. */
    void leave(PipeName pipe, String producer, ProducingSide side) {
        newest.remove(new Key(pipe, producer), side);
    }
}
