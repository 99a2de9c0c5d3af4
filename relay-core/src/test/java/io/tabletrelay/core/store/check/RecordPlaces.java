package io.tabletrelay.core.store.check;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Which bytes of a segment's file are which event's: its word and its record. What lies between them is padding.
 *
 * <p>Threading: immutable.
 */
final class RecordPlaces {
    private static final int OWN_BIT = 0x4000_0000;
    private static final int EVENT = 2;

    private final Map<Long, long[]> places = new HashMap<>();

    RecordPlaces(Path file, ByteBuffer used) {
        if (!file.toString().endsWith(".cq4")) {
            return;
        }
        ByteBuffer bytes = used.duplicate();
        int at = 0;
        while (at + Integer.BYTES < used.limit()) {
            int word = bytes.order(ByteOrder.LITTLE_ENDIAN).getInt(at);
            int length = word & ~OWN_BIT;
            boolean isEvent = length == word && bytes.get(at + 5) == EVENT;
            if (word <= 0) {
                return;
            }
            if (isEvent) {
                long id = bytes.order(ByteOrder.BIG_ENDIAN).getLong(at + Integer.BYTES + 8);
                places.put(id, new long[] {at, at + Integer.BYTES + length - 1});
            }
            at += Integer.BYTES + length;
            at += -at & 3;
        }
    }

    /** The events that may have been changed. */
    Set<Long> touchedBy(FileDamage damage) {
        Set<Long> touched = new TreeSet<>();
        places.forEach((id, place) -> {
            if (damage.bytes().first() <= place[1] && place[0] <= damage.bytes().last()) {
                touched.add(id);
            }
        });
        return touched;
    }
}
