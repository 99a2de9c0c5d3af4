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
 * What the columns of a table hold. It is made by a pass over all rows that refuses each one that does not fit, so that
 * nothing is refused any more once payloads are made.
 *
 * <p>Threading: immutable.
 *
 * @param types by column, the time's too
 */
record CsvSchema(CsvTable table, int timeColumn, List<TabletType> types, CellParser parser) {
    private static final int MOST_SHOWN_COLUMNS = 20;

    static CsvSchema of(CsvTable table, CsvOptions options, long maxRows) throws BadEventException {
        int timeColumn = timeColumn(table.header(), options);
        refuseUnknownColumns(table.header(), timeColumn, options.types());
        CellParser parser = new CellParser(new TimeParser(options.zone()));
        List<TypeInference> inferences = new ArrayList<>();
        List<TabletType> known = new ArrayList<>();
        for (String column : table.header()) {
            inferences.add(new TypeInference(parser, options.textType()));
            known.add(options.types().getOrDefault(column, TabletType.STRING));
        }
        CsvSchema declared = new CsvSchema(table, timeColumn, known, parser);
        RowCount rows = new RowCount(table, maxRows);
        table.forEachRow(row -> {
            rows.refuseTooMany(row);
            declared.time(row);
            declared.values(row);
            for (int i = 0; i < row.size(); i++) {
                inferences.get(i).see(row.field(i));
            }
        });
        List<TabletType> types = new ArrayList<>();
        for (int i = 0; i < inferences.size(); i++) {
            boolean isDeclared = options.types().containsKey(table.header().get(i));
            types.add(isDeclared ? known.get(i) : inferences.get(i).type());
        }
        return new CsvSchema(table, timeColumn, List.copyOf(types), parser);
    }

    /** Starts a tablet with all columns but the time's. */
    Tablet.Builder tablet(String device) {
        Tablet.Builder builder = Tablet.builder(device);
        for (int i = 0; i < types.size(); i++) {
            if (i != timeColumn) {
                builder.column(table.header().get(i), types.get(i));
            }
        }
        return builder;
    }

    long time(CsvTable.Row row) throws BadEventException {
        Long time = parser.times().parse(row.field(timeColumn).strip());
        if (time == null) {
            throw table.text()
                    .problem(
                            row.offset(timeColumn),
                            "not a time: column=" + table.header().get(timeColumn)
                                    + "; expected epoch milliseconds or ISO 8601 such as 2024-02-29 13:05:00");
        }
        return time;
    }

    /** The values or nulls of all columns but the time's. */
    @Nullable
    Object[] values(CsvTable.Row row) throws BadEventException {
        @Nullable Object[] values = new @Nullable Object[types.size() - 1];
        int next = 0;
        for (int i = 0; i < types.size(); i++) {
            if (i != timeColumn) {
                values[next++] = value(row, i);
            }
        }
        return values;
    }

    ByteBuffer json(CsvTable.Row row) throws BadEventException {
        JsonRow json = new JsonRow();
        for (int i = 0; i < types.size(); i++) {
            json.add(table.header().get(i), i == timeColumn ? time(row) : value(row, i));
        }
        return json.bytes();
    }

    private @Nullable Object value(CsvTable.Row row, int column) throws BadEventException {
        String field = row.field(column);
        if (field.isEmpty()) {
            return null;
        }
        Object value = parser.parse(types.get(column), field);
        if (value == null) {
            throw table.text()
                    .problem(
                            row.offset(column),
                            "value does not fit the column's type: column="
                                    + table.header().get(column) + ", type=" + types.get(column));
        }
        return value;
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

    /** A header may be as long as a request. */
    private static String shown(List<String> header) {
        return header.size() <= MOST_SHOWN_COLUMNS ? header.toString() : header.size() + " columns";
    }

    /**
     * Holds the number of rows against the limit.
     *
     * <p>Threading: confined to the thread that serializes.
     */
    private static final class RowCount {
        private final CsvTable table;
        private final long limit;
        private long rows;

        RowCount(CsvTable table, long limit) {
            this.table = table;
            this.limit = limit;
        }

        void refuseTooMany(CsvTable.Row row) throws BadEventException {
            rows++;
            if (rows > limit) {
                throw table.text()
                        .problem(
                                row.offset(0),
                                "too many rows for one request: limit=" + limit
                                        + "; send fewer at once or put more into one tablet with the option rows");
            }
        }
    }
}
