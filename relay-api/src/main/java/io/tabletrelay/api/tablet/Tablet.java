package io.tabletrelay.api.tablet;

import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.RandomAccess;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Rows of one device or table: a time and a value or null per column each.
 *
 * <p>Threading: immutable.
 */
public final class Tablet {
    private final String target;
    private final List<TabletColumn> columns;
    private final long[] times;
    private final List<ColumnValues> values;

    Tablet(String target, List<TabletColumn> columns, long[] times, List<ColumnValues> values) {
        this.target = target;
        this.columns = List.copyOf(columns);
        this.times = times;
        this.values = List.copyOf(values);
    }

    /**
     * One row.
     *
     * @param values a value or null per column, in the columns' order, of the type's {@link TabletType#javaType()}
     */
    public record Row(long time, List<@Nullable Object> values) {}

    /** Starts a tablet of that device (tree model) or table (table model). */
    public static Builder builder(String target) {
        return new Builder(target);
    }

    /** The device's path in the tree model, the table's name in the table model; the bytes do not say which. */
    public String target() {
        return target;
    }

    public List<TabletColumn> columns() {
        return columns;
    }

    public int rowCount() {
        return times.length;
    }

    /** The row's time, by custom in milliseconds since the epoch; a database may have been set to another unit. */
    public long time(int row) {
        return times[row];
    }

    /** Returns the cell's value as its column's {@link TabletType#javaType()}, or null. */
    public @Nullable Object value(int row, int column) {
        return values.get(column).get(row);
    }

    public boolean isNull(int row, int column) {
        return values.get(column).isNull(row);
    }

    /** The rows in their order, made as they are asked for. */
    public List<Row> rows() {
        return new Rows();
    }

    long[] times() {
        return times;
    }

    ColumnValues values(int column) {
        return values.get(column);
    }

    @Override
    public String toString() {
        return "Tablet[target=" + target + ", columns=" + columns.size() + ", rows=" + times.length + "]";
    }

    private final class Rows extends AbstractList<Row> implements RandomAccess {
        @Override
        public Row get(int index) {
            List<@Nullable Object> cells = new ArrayList<>(values.size());
            for (ColumnValues column : values) {
                cells.add(column.get(index));
            }
            return new Row(times[index], Collections.unmodifiableList(cells));
        }

        @Override
        public int size() {
            return times.length;
        }
    }

    /**
     * Collects columns, then rows.
     *
     * <p>Threading: confined to the thread that builds.
     */
    public static final class Builder {
        private final String target;
        private final List<TabletColumn> columns = new ArrayList<>();
        private final List<Long> times = new ArrayList<>();
        private final List<@Nullable Object[]> rows = new ArrayList<>();

        private Builder(String target) {
            this.target = target;
        }

        /** Adds a measured value's column, see {@link TabletColumn#field}. */
        public Builder column(String name, TabletType type) {
            return column(TabletColumn.field(name, type));
        }

        public Builder column(TabletColumn column) {
            if (!rows.isEmpty()) {
                throw new IllegalStateException("column added after a row: column=" + column.name());
            }
            columns.add(column);
            return this;
        }

        /**
         * Adds a row.
         *
         * @param cells a value or null per column, of the type's {@link TabletType#javaType()}; not copied
         */
        public Builder row(long time, @Nullable Object... cells) {
            if (cells.length != columns.size()) {
                throw new IllegalArgumentException("row does not fit the columns: row=" + rows.size() + ", values="
                        + cells.length + ", columns=" + columns.size());
            }
            for (int i = 0; i < cells.length; i++) {
                ColumnValues.check(columns.get(i), cells[i]);
            }
            times.add(time);
            rows.add(cells);
            return this;
        }

        public Tablet build() {
            List<ColumnValues> values = IntStream.range(0, columns.size())
                    .mapToObj(i -> ColumnValues.ofRows(columns.get(i).type(), rows, i))
                    .toList();
            return new Tablet(
                    target, columns, times.stream().mapToLong(Long::longValue).toArray(), values);
        }
    }
}
