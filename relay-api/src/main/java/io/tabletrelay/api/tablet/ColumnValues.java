package io.tabletrelay.api.tablet;

import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.time.Month;
import java.time.Year;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One column's values and which of them are null.
 *
 * <p>Threading: immutable, provided nobody writes to what the constructor was given.
 */
final class ColumnValues {
    /** Stands where a null date has no value: readers insist on a date even there. */
    static final int NO_DATE = 1000_01_01;

    private static final byte[] NO_BYTES = {};

    private final TabletType type;
    private final @Nullable Object array;
    private final BitSet nulls;

    /**
     * Takes the arrays as they are.
     *
     * @param array boolean[], int[] (dates too, as yyyyMMdd), long[], float[], double[] or byte[][], as the type wants;
     *     null if every value is null
     */
    ColumnValues(TabletType type, @Nullable Object array, BitSet nulls) {
        this.type = type;
        this.array = array;
        this.nulls = nulls;
    }

    static ColumnValues ofRows(TabletType type, List<@Nullable Object[]> rows, int column) {
        BitSet nulls = new BitSet();
        Object array = newArray(type, rows.size());
        for (int row = 0; row < rows.size(); row++) {
            Object value = rows.get(row)[column];
            if (value == null) {
                nulls.set(row);
                putFiller(type, array, row);
            } else {
                put(type, array, row, value);
            }
        }
        return new ColumnValues(type, array, nulls);
    }

    /** Throws IllegalArgumentException for a value that the column cannot hold. */
    static void check(TabletColumn column, @Nullable Object value) {
        if (value == null) {
            return;
        }
        if (!column.type().javaType().isInstance(value)) {
            throw new IllegalArgumentException("value does not fit its column: column=" + column.name() + ", type="
                    + column.type() + ", expected=" + column.type().javaType().getSimpleName() + ", given="
                    + value.getClass().getSimpleName());
        }
        if (value instanceof LocalDate date && !isDate(numberOf(date))) {
            throw new IllegalArgumentException(
                    "date out of range: column=" + column.name() + "; dates of the years 1000 to 9999 can be kept");
        }
    }

    static boolean isDate(int number) {
        int year = number / 1_00_00;
        int month = number / 1_00 % 1_00;
        int day = number % 1_00;
        return year >= 1000
                && year <= 9999
                && month >= 1
                && month <= 12
                && day >= 1
                && day <= Month.of(month).length(Year.isLeap(year));
    }

    boolean isNull(int row) {
        return array == null || nulls.get(row);
    }

    boolean hasNulls(int rows) {
        return array == null ? rows > 0 : !nulls.isEmpty();
    }

    /** The array as given to the constructor, or one of fillers. */
    Object array(int rows) {
        if (array != null) {
            return array;
        }
        Object fillers = newArray(type, rows);
        for (int row = 0; row < rows; row++) {
            putFiller(type, fillers, row);
        }
        return fillers;
    }

    @Nullable
    Object get(int row) {
        if (array == null || nulls.get(row)) {
            return null;
        }
        return switch (type) {
            case BOOLEAN -> ((boolean[]) array)[row];
            case INT32 -> ((int[]) array)[row];
            case DATE -> dateOf(((int[]) array)[row]);
            case INT64, TIMESTAMP -> ((long[]) array)[row];
            case FLOAT -> ((float[]) array)[row];
            case DOUBLE -> ((double[]) array)[row];
            case TEXT, STRING -> new String(((byte[][]) array)[row], StandardCharsets.UTF_8);
            case BLOB, OBJECT -> ((byte[][]) array)[row].clone();
        };
    }

    private static Object newArray(TabletType type, int rows) {
        return switch (type) {
            case BOOLEAN -> new boolean[rows];
            case INT32, DATE -> new int[rows];
            case INT64, TIMESTAMP -> new long[rows];
            case FLOAT -> new float[rows];
            case DOUBLE -> new double[rows];
            case TEXT, STRING, BLOB, OBJECT -> new byte[rows][];
        };
    }

    private static void putFiller(TabletType type, Object array, int row) {
        if (type == TabletType.DATE) {
            ((int[]) array)[row] = NO_DATE;
        } else if (array instanceof byte[][] binaries) {
            binaries[row] = NO_BYTES;
        }
    }

    private static void put(TabletType type, Object array, int row, Object value) {
        switch (type) {
            case BOOLEAN -> ((boolean[]) array)[row] = (Boolean) value;
            case INT32 -> ((int[]) array)[row] = (Integer) value;
            case DATE -> ((int[]) array)[row] = numberOf((LocalDate) value);
            case INT64, TIMESTAMP -> ((long[]) array)[row] = (Long) value;
            case FLOAT -> ((float[]) array)[row] = (Float) value;
            case DOUBLE -> ((double[]) array)[row] = (Double) value;
            case TEXT, STRING -> ((byte[][]) array)[row] = ((String) value).getBytes(StandardCharsets.UTF_8);
            case BLOB, OBJECT -> ((byte[][]) array)[row] = ((byte[]) value).clone();
        }
    }

    /** Dates outside the years 1000 to 9999 give a number that {@link #isDate} refuses. */
    private static int numberOf(LocalDate date) {
        int year = date.getYear();
        return year < 1000 || year > 9999 ? 0 : year * 1_00_00 + date.getMonthValue() * 1_00 + date.getDayOfMonth();
    }

    private static LocalDate dateOf(int number) {
        return LocalDate.of(number / 1_00_00, number / 1_00 % 1_00, number % 1_00);
    }
}
