package io.tabletrelay.plugins.csv;

import io.tabletrelay.api.serializer.BadEventException;
import io.tabletrelay.api.tablet.Tablet;
import io.tabletrelay.api.tablet.TabletType;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The rows with each field read as its column's type: nothing in them can be refused any more.
 *
 * <p>Threading: immutable.
 *
 * @param types of the columns beside the time's, in the header's order
 */
record TypedRows(
        CsvTable table, int timeColumn, List<TabletType> types, List<Long> times, List<@Nullable Object[]> values) {
    private static final int MOST_SHOWN_COLUMNS = 20;

    static TypedRows of(CsvTable table, CsvOptions options) throws BadEventException {
        int timeColumn = timeColumn(table.header(), options);
        refuseUnknownColumns(table.header(), timeColumn, options.types());
        TimeParser timeParser = new TimeParser(options.zone());
        CellParser cellParser = new CellParser(timeParser);
        List<TabletType> types = types(table, timeColumn, options.types(), cellParser);
        List<Long> times = new ArrayList<>(table.rows().size());
        List<@Nullable Object[]> values = new ArrayList<>(table.rows().size());
        for (CsvTable.Row row : table.rows()) {
            times.add(time(table, row, timeColumn, timeParser));
            values.add(values(table, row, timeColumn, types, cellParser));
        }
        return new TypedRows(table, timeColumn, types, times, values);
    }

    int count() {
        return times.size();
    }

    void refuseMoreThan(long limit) throws BadEventException {
        if (count() > limit) {
            throw table.text()
                    .problem(
                            table.rows().get((int) limit).offset(0),
                            "too many rows for one request: rows=" + count() + ", limit=" + limit
                                    + "; send fewer at once or put more into one tablet with the option rows");
        }
    }

    Tablet tablet(String device, int first, int end) {
        Tablet.Builder builder = Tablet.builder(device);
        for (int i = 0; i < types.size(); i++) {
            builder.column(table.header().get(columnOf(i)), types.get(i));
        }
        for (int row = first; row < end; row++) {
            builder.row(times.get(row), values.get(row));
        }
        return builder.build();
    }

    ByteBuffer json(int row) {
        JsonRow json = new JsonRow();
        for (int column = 0; column < table.header().size(); column++) {
            json.add(
                    table.header().get(column),
                    column == timeColumn ? times.get(row) : values.get(row)[column < timeColumn ? column : column - 1]);
        }
        return json.bytes();
    }

    private int columnOf(int typeIndex) {
        return typeIndex < timeColumn ? typeIndex : typeIndex + 1;
    }

    private static int timeColumn(List<String> header, CsvOptions options) throws BadEventException {
        int column = options.timeColumn() == null ? 0 : header.indexOf(options.timeColumn());
        if (column < 0) {
            throw CsvOptions.refused("time", String.valueOf(options.timeColumn()), "a column of " + shown(header));
        }
        if (header.size() == 1) {
            throw BadEventException.atLine(1, 1, "no column beside the time's: column=" + header.get(0));
        }
        return column;
    }

    private static void refuseUnknownColumns(List<String> header, int timeColumn, Map<String, TabletType> declared)
            throws BadEventException {
        for (String column : declared.keySet()) {
            if (!header.contains(column)) {
                throw CsvOptions.refused("types", column, "columns of " + shown(header));
            }
            if (column.equals(header.get(timeColumn))) {
                throw CsvOptions.refused("types", column, "columns beside the time's");
            }
        }
    }

    private static List<TabletType> types(
            CsvTable table, int timeColumn, Map<String, TabletType> declared, CellParser parser) {
        List<TabletType> types = new ArrayList<>();
        for (int i = 0; i < table.header().size(); i++) {
            if (i != timeColumn) {
                int column = i;
                TabletType type = declared.get(table.header().get(column));
                types.add(
                        type != null
                                ? type
                                : parser.infer(() -> table.rows().stream()
                                        .map(row -> row.field(column))
                                        .filter(field -> !field.isEmpty())
                                        .iterator()));
            }
        }
        return List.copyOf(types);
    }

    private static long time(CsvTable table, CsvTable.Row row, int column, TimeParser parser) throws BadEventException {
        Long time = parser.parse(row.field(column).strip());
        if (time == null) {
            throw table.text()
                    .problem(
                            row.offset(column),
                            "not a time: column=" + table.header().get(column)
                                    + "; expected epoch milliseconds or ISO 8601 such as 2024-02-29 13:05:00");
        }
        return time;
    }

    private static @Nullable Object[] values(
            CsvTable table, CsvTable.Row row, int timeColumn, List<TabletType> types, CellParser parser)
            throws BadEventException {
        @Nullable Object[] values = new @Nullable Object[types.size()];
        for (int i = 0; i < values.length; i++) {
            int column = i < timeColumn ? i : i + 1;
            String field = row.field(column);
            values[i] = field.isEmpty() ? null : parser.parse(types.get(i), field);
            if (values[i] == null && !field.isEmpty()) {
                throw table.text()
                        .problem(
                                row.offset(column),
                                "value does not fit the column's type: column="
                                        + table.header().get(column) + ", type=" + types.get(i));
            }
        }
        return values;
    }

    /** A header may be as long as a request. */
    private static String shown(List<String> header) {
        return header.size() <= MOST_SHOWN_COLUMNS ? header.toString() : header.size() + " columns";
    }
}
