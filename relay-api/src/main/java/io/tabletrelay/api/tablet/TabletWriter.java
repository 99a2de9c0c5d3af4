package io.tabletrelay.api.tablet;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * One tablet on its way into a buffer of exactly its size. A null map is written only for a column that has a null.
 *
 * <p>Threading: confined to one call of {@link TabletCodec#encode}.
 */
final class TabletWriter {
    private final Tablet tablet;
    private final TabletFamily family;
    private final int rows;
    private final ByteBuffer out;

    TabletWriter(Tablet tablet, TabletFamily family) {
        tablet.columns().forEach(family::check);
        this.tablet = tablet;
        this.family = family;
        this.rows = tablet.rowCount();
        this.out = ByteBuffer.allocate(sizeBytes(tablet, family));
    }

    ByteBuffer write() {
        string(tablet.target());
        out.putInt(rows);
        flag(true);
        out.putInt(tablet.columns().size());
        tablet.columns().forEach(this::column);
        flag(true);
        out.asLongBuffer().put(tablet.times());
        out.position(out.position() + rows * Long.BYTES);
        bitMaps();
        flag(true);
        for (int i = 0; i < tablet.columns().size(); i++) {
            flag(true);
            values(i);
        }
        return out.flip();
    }

    private void column(TabletColumn column) {
        flag(true);
        string(column.name());
        out.put((byte) column.type().code());
        out.put(column.encoding());
        out.put(column.compressor());
        out.putInt(column.props().size());
        for (Map.Entry<String, String> prop : column.props().entrySet()) {
            string(prop.getKey());
            string(prop.getValue());
        }
        if (family.hasCategories()) {
            out.put((byte) column.category().code());
        }
    }

    private void bitMaps() {
        boolean any = hasNulls(tablet);
        flag(any);
        for (int i = 0; any && i < tablet.columns().size(); i++) {
            boolean present = tablet.values(i).hasNulls(rows);
            flag(present);
            if (present) {
                out.putInt(rows);
                out.putInt(family.nullMapBytes(rows));
                bitMap(tablet.values(i));
            }
        }
    }

    private void bitMap(ColumnValues values) {
        int end = family.nullMapBytes(rows) * Byte.SIZE;
        for (int first = 0; first < end; first += Byte.SIZE) {
            int bits = 0;
            for (int row = first; row < Math.min(rows, first + Byte.SIZE); row++) {
                bits |= values.isNull(row) ? 1 << (row - first) : 0;
            }
            out.put((byte) bits);
        }
    }

    private void values(int column) {
        Object array = tablet.values(column).array(rows);
        if (array instanceof boolean[] booleans) {
            for (boolean value : booleans) {
                flag(value);
            }
        } else if (array instanceof int[] ints) {
            out.asIntBuffer().put(ints);
            out.position(out.position() + rows * Integer.BYTES);
        } else if (array instanceof long[] longs) {
            out.asLongBuffer().put(longs);
            out.position(out.position() + rows * Long.BYTES);
        } else if (array instanceof float[] floats) {
            out.asFloatBuffer().put(floats);
            out.position(out.position() + rows * Float.BYTES);
        } else if (array instanceof double[] doubles) {
            out.asDoubleBuffer().put(doubles);
            out.position(out.position() + rows * Double.BYTES);
        } else {
            for (byte[] value : (byte[][]) array) {
                flag(true);
                out.putInt(value.length).put(value);
            }
        }
    }

    private void string(String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        out.putInt(utf8.length).put(utf8);
    }

    private void flag(boolean value) {
        out.put((byte) (value ? 1 : 0));
    }

    private static int sizeBytes(Tablet tablet, TabletFamily family) {
        int rows = tablet.rowCount();
        long size = stringBytes(tablet.target()) + Integer.BYTES + 1 + Integer.BYTES;
        size += 1 + (long) rows * Long.BYTES + 1 + 1;
        boolean anyNulls = hasNulls(tablet);
        for (int i = 0; i < tablet.columns().size(); i++) {
            ColumnValues values = tablet.values(i);
            size += columnBytes(tablet.columns().get(i), family) + 1 + valuesBytes(values.array(rows));
            size += anyNulls ? 1 : 0;
            size += values.hasNulls(rows) ? 2L * Integer.BYTES + family.nullMapBytes(rows) : 0;
        }
        if (size > Integer.MAX_VALUE - Long.BYTES) {
            throw new RelayException(
                    ErrorCode.TOO_LARGE, "tablet too large to encode: rows=" + rows + ", bytes=" + size);
        }
        return (int) size;
    }

    private static long columnBytes(TabletColumn column, TabletFamily family) {
        long size = 1 + stringBytes(column.name()) + 3 + Integer.BYTES + (family.hasCategories() ? 1 : 0);
        for (Map.Entry<String, String> prop : column.props().entrySet()) {
            size += stringBytes(prop.getKey()) + stringBytes(prop.getValue());
        }
        return size;
    }

    private static long valuesBytes(Object array) {
        if (array instanceof boolean[] booleans) {
            return booleans.length;
        } else if (array instanceof int[] ints) {
            return (long) ints.length * Integer.BYTES;
        } else if (array instanceof long[] longs) {
            return (long) longs.length * Long.BYTES;
        } else if (array instanceof float[] floats) {
            return (long) floats.length * Float.BYTES;
        } else if (array instanceof double[] doubles) {
            return (long) doubles.length * Double.BYTES;
        }
        long size = 0;
        for (byte[] value : (byte[][]) array) {
            size += 1 + Integer.BYTES + value.length;
        }
        return size;
    }

    private static boolean hasNulls(Tablet tablet) {
        for (int i = 0; i < tablet.columns().size(); i++) {
            if (tablet.values(i).hasNulls(tablet.rowCount())) {
                return true;
            }
        }
        return false;
    }

    private static long stringBytes(String text) {
        return (long) Integer.BYTES + text.getBytes(StandardCharsets.UTF_8).length;
    }
}
