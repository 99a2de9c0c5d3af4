package io.tabletrelay.core.store.acks;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A number in a mapped header that only rises, kept in two places, each with a check of its own.
 *
 * <p>A rise writes the place that does not hold the newest value: value first, then check. Killed before the first store:
 * the old value. Between the two stores: that place is invalid and the other one still has the old value. After both: the
 * new value, since the higher of the valid ones counts. The next rise after such a kill overwrites the invalid place.
 *
 * <p>Threading: confined to the one thread that raises it, as its owner says.
 */
final class TwinLong {
    static final int BYTES = 32;
    static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final int PLACE_BYTES = 16;

    private final ByteBuffer map;
    private final int at;
    private int newestAt;
    private long value;

    private TwinLong(ByteBuffer map, int at) {
        this.map = map;
        this.at = at;
    }

    static void init(ByteBuffer header, int at, long value) {
        for (int place = at; place < at + BYTES; place += PLACE_BYTES) {
            LONGS.set(header, place, value);
            LONGS.set(header, place + Long.BYTES, SettledFormat.headerCheck(value, at));
        }
    }

    /** True if a value can be read there. */
    static boolean isReadable(ByteBuffer map, int at) {
        return isValid(map, at, at) || isValid(map, at, at + PLACE_BYTES);
    }

    static TwinLong read(ByteBuffer map, int at) {
        TwinLong twin = new TwinLong(map, at);
        twin.value = -1;
        for (int place = at; place < at + BYTES; place += PLACE_BYTES) {
            if (isValid(map, at, place) && longAt(map, place) > twin.value) {
                twin.value = longAt(map, place);
                twin.newestAt = place;
            }
        }
        return twin;
    }

    long value() {
        return value;
    }

    void raiseTo(long higher) {
        if (higher <= value) {
            return;
        }
        int place = newestAt == at ? at + PLACE_BYTES : at;
        LONGS.setRelease(map, place, higher);
        LONGS.setRelease(map, place + Long.BYTES, SettledFormat.headerCheck(higher, at));
        newestAt = place;
        value = higher;
    }

    private static boolean isValid(ByteBuffer map, int at, int place) {
        long value = longAt(map, place);
        return value >= 0 && longAt(map, place + Long.BYTES) == SettledFormat.headerCheck(value, at);
    }

    private static long longAt(ByteBuffer map, int index) {
        return (long) LONGS.getAcquire(map, index);
    }
}
