package io.tabletrelay.api.tablet;

import io.tabletrelay.api.tablet.TabletColumn.Category;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One pass over one tablet's bytes. Every length is held against the bytes that are left before anything is allocated.
 *
 * <p>Threading: confined to one call of {@link TabletCodec#decode}.
 */
final class TabletReader {
    private static final int SMALLEST_COLUMN_BYTES = 12;
    private static final int SMALLEST_PROP_BYTES = 8;

    private final ByteBuffer in;
    private final TabletFamily family;

    TabletReader(ByteBuffer bytes, TabletFamily family) {
        this.in = bytes.slice();
        this.family = family;
    }

    Tablet read() throws TabletFormatException {
        String target = string("device or table name");
        int rows = count("row count", 0);
        List<TabletColumn> columns = columns();
        require(flag("times"), "tablet has no times");
        long[] times = longs(rows, "times");
        List<BitSet> nulls = bitMaps(columns, rows);
        require(flag("values"), "tablet has no values");
        List<ColumnValues> values = new ArrayList<>(columns.size());
        for (int i = 0; i < columns.size(); i++) {
            values.add(values(columns.get(i), rows, nulls.get(i)));
        }
        if (in.hasRemaining()) {
            throw wrong(in.position(), "bytes after the tablet's end: surplusBytes=" + in.remaining());
        }
        return new Tablet(target, columns, times, values);
    }

    private List<TabletColumn> columns() throws TabletFormatException {
        require(flag("columns"), "tablet has no columns");
        int count = count("column count", SMALLEST_COLUMN_BYTES);
        List<TabletColumn> columns = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            require(flag("column"), "column is missing: column=" + i);
            String name = string("column name");
            TabletType type = type();
            byte encoding = oneByte("encoding");
            byte compressor = oneByte("compressor");
            columns.add(new TabletColumn(name, type, encoding, compressor, props(), category()));
        }
        return columns;
    }

    private TabletType type() throws TabletFormatException {
        byte code = oneByte("column type");
        TabletType type = TabletType.ofCode(code);
        if (type == null || !family.knows(type)) {
            throw wrong(in.position() - 1, "unknown column type: type=" + code);
        }
        return type;
    }

    private Map<String, String> props() throws TabletFormatException {
        int count = count("property count", SMALLEST_PROP_BYTES);
        Map<String, String> props = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            String key = string("property name");
            props.put(key, string("property value"));
        }
        return props;
    }

    private Category category() throws TabletFormatException {
        if (!family.hasCategories()) {
            return Category.FIELD;
        }
        byte code = oneByte("column category");
        Category category = Category.ofCode(code);
        if (category == null) {
            throw wrong(in.position() - 1, "unknown column category: category=" + code);
        }
        return category;
    }

    private List<BitSet> bitMaps(List<TabletColumn> columns, int rows) throws TabletFormatException {
        boolean present = flag("null maps");
        List<BitSet> nulls = new ArrayList<>(columns.size());
        for (int i = 0; i < columns.size(); i++) {
            nulls.add(present && flag("null map") ? bitMap(rows) : new BitSet(0));
        }
        return nulls;
    }

    /** Writers differ in how much longer than the rows a map is; its bits behind the last row mean nothing. */
    private BitSet bitMap(int rows) throws TabletFormatException {
        int sizeBits = count("null map size", 0);
        int lengthBytes = count("null map length", 1);
        boolean lengthFits = lengthBytes == (sizeBits + 7L) / 8 || lengthBytes == sizeBits / 8 + 1;
        if (sizeBits < rows || !lengthFits) {
            throw wrong(
                    in.position() - Integer.BYTES,
                    "null map does not fit the rows: rows=" + rows + ", mapBits=" + sizeBits + ", mapBytes="
                            + lengthBytes);
        }
        BitSet nulls = BitSet.valueOf(in.slice(in.position(), lengthBytes));
        in.position(in.position() + lengthBytes);
        nulls.clear(rows, Math.max(rows, nulls.length()));
        return nulls;
    }

    private ColumnValues values(TabletColumn column, int rows, BitSet nulls) throws TabletFormatException {
        if (!flag("column values")) {
            return new ColumnValues(column.type(), null, nulls);
        }
        Object array = switch (column.type()) {
            case BOOLEAN -> booleans(rows);
            case INT32 -> ints(rows, "INT32 values");
            case DATE -> dates(rows);
            case INT64, TIMESTAMP -> longs(rows, "INT64 values");
            case FLOAT -> floats(rows);
            case DOUBLE -> doubles(rows);
            case TEXT, STRING, BLOB, OBJECT -> binaries(rows, nulls);
        };
        return new ColumnValues(column.type(), array, nulls);
    }

    private boolean[] booleans(int rows) throws TabletFormatException {
        need(rows, "BOOLEAN values");
        boolean[] values = new boolean[rows];
        for (int row = 0; row < rows; row++) {
            values[row] = flag("BOOLEAN value");
        }
        return values;
    }

    private int[] ints(int rows, String what) throws TabletFormatException {
        need((long) rows * Integer.BYTES, what);
        int[] values = new int[rows];
        in.asIntBuffer().get(values);
        in.position(in.position() + rows * Integer.BYTES);
        return values;
    }

    /** Fillers of null cells must be dates as well: readers stumble over them. */
    private int[] dates(int rows) throws TabletFormatException {
        int start = in.position();
        int[] values = ints(rows, "DATE values");
        for (int row = 0; row < rows; row++) {
            if (!ColumnValues.isDate(values[row])) {
                throw wrong(start + row * Integer.BYTES, "not a date of the form yyyyMMdd: row=" + row);
            }
        }
        return values;
    }

    private long[] longs(int rows, String what) throws TabletFormatException {
        need((long) rows * Long.BYTES, what);
        long[] values = new long[rows];
        in.asLongBuffer().get(values);
        in.position(in.position() + rows * Long.BYTES);
        return values;
    }

    private float[] floats(int rows) throws TabletFormatException {
        need((long) rows * Float.BYTES, "FLOAT values");
        float[] values = new float[rows];
        in.asFloatBuffer().get(values);
        in.position(in.position() + rows * Float.BYTES);
        return values;
    }

    private double[] doubles(int rows) throws TabletFormatException {
        need((long) rows * Double.BYTES, "DOUBLE values");
        double[] values = new double[rows];
        in.asDoubleBuffer().get(values);
        in.position(in.position() + rows * Double.BYTES);
        return values;
    }

    private byte[][] binaries(int rows, BitSet nulls) throws TabletFormatException {
        need(rows, "binary values");
        byte[][] values = new byte[rows][];
        for (int row = 0; row < rows; row++) {
            boolean present = flag("binary value");
            values[row] = new byte[present ? count("binary value length", 1) : 0];
            in.get(values[row]);
            if (!present) {
                nulls.set(row);
            }
        }
        return values;
    }

    private String string(String what) throws TabletFormatException {
        int lengthBytes = count(what + " length", 1);
        ByteBuffer text = in.slice(in.position(), lengthBytes);
        try {
            String decoded = StandardCharsets.UTF_8.newDecoder().decode(text).toString();
            in.position(in.position() + lengthBytes);
            return decoded;
        } catch (CharacterCodingException e) {
            throw wrong(in.position() + text.position(), what + " is not UTF-8");
        }
    }

    /** Reads how many things of at least that size follow; more than the bytes that are left can hold is refused. */
    private int count(String what, int smallestBytes) throws TabletFormatException {
        need(Integer.BYTES, what);
        int count = in.getInt();
        if (count < 0) {
            throw wrong(in.position() - Integer.BYTES, what + " is negative: value=" + count);
        }
        if ((long) count * smallestBytes > in.remaining()) {
            throw wrong(
                    in.position() - Integer.BYTES,
                    what + " is larger than the bytes that follow: value=" + count + ", followingBytes="
                            + in.remaining());
        }
        return count;
    }

    private boolean flag(String what) throws TabletFormatException {
        byte value = oneByte(what + " flag");
        if (value != 0 && value != 1) {
            throw wrong(in.position() - 1, what + " flag must be 0 or 1: value=" + value);
        }
        return value == 1;
    }

    private byte oneByte(String what) throws TabletFormatException {
        need(1, what);
        return in.get();
    }

    private void need(long bytes, String what) throws TabletFormatException {
        if (in.remaining() < bytes) {
            throw wrong(
                    in.limit(),
                    "tablet ends inside " + what + ": neededBytes=" + bytes + ", availableBytes=" + in.remaining());
        }
    }

    private void require(boolean present, String problem) throws TabletFormatException {
        if (!present) {
            throw wrong(in.position() - 1, problem);
        }
    }

    private static TabletFormatException wrong(int byteOffset, String problem) {
        return new TabletFormatException(byteOffset, problem);
    }
}
