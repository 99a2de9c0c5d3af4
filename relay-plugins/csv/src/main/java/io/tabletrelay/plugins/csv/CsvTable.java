package io.tabletrelay.plugins.csv;

import de.siegmar.fastcsv.reader.AbstractBaseCsvCallbackHandler;
import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.FieldMismatchStrategy;
import io.tabletrelay.api.serializer.BadEventException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A header and rows of as many fields each. Empty lines are skipped.
 *
 * <p>Threading: immutable.
 *
 * @param header the columns' names, without surrounding spaces
 */
record CsvTable(SourceText text, List<String> header, List<Row> rows) {
    private static final char QUOTE = '"';

    /**
     * One row's fields.
     *
     * <p>Threading: immutable.
     */
    static final class Row {
        private final String[] fields;
        private final int[] offsets;
        private final boolean lastIsQuoted;

        private Row(List<String> fields, List<Integer> offsets, boolean lastIsQuoted) {
            this.fields = fields.toArray(String[]::new);
            this.offsets = offsets.stream().mapToInt(Integer::intValue).toArray();
            this.lastIsQuoted = lastIsQuoted;
        }

        String field(int column) {
            return fields[column];
        }

        /** Where in the text the field begins. */
        int offset(int column) {
            return offsets[column];
        }

        int size() {
            return fields.length;
        }
    }

    static CsvTable parse(SourceText text) throws BadEventException {
        List<Row> rows = new ArrayList<>();
        RowHandler handler = new RowHandler();
        try {
            for (Row row : reader(handler, text)) {
                rows.add(row);
                refuseRagged(text, rows.get(0), row);
            }
        } catch (CsvParseException e) {
            if (e.getCause() instanceof Error error) {
                throw error;
            }
            throw BadEventException.atLine(
                    handler.line(), 1, "something follows a field's closing quote in the record that begins here");
        }
        if (rows.isEmpty()) {
            throw text.problem(0, "no header row; the first row must name the columns");
        }
        refuseOpenQuote(text, rows.get(rows.size() - 1));
        return new CsvTable(text, header(text, rows.get(0)), List.copyOf(rows.subList(1, rows.size())));
    }

    /** Lets pass what is refused here, where its place is known. */
    private static CsvReader<Row> reader(RowHandler handler, SourceText text) {
        return CsvReader.builder()
                .extraFieldStrategy(FieldMismatchStrategy.IGNORE)
                .missingFieldStrategy(FieldMismatchStrategy.IGNORE)
                .allowUnclosedQuote(true)
                .build(handler, text.value());
    }

    private static void refuseRagged(SourceText text, Row header, Row row) throws BadEventException {
        if (row.size() != header.size()) {
            throw text.problem(
                    row.offset(0), "row does not fit the header: fields=" + row.size() + ", columns=" + header.size());
        }
    }

    private static List<String> header(SourceText text, Row row) throws BadEventException {
        List<String> names = new ArrayList<>(row.size());
        Set<String> known = new HashSet<>();
        for (int column = 0; column < row.size(); column++) {
            String name = row.field(column).strip();
            if (name.isEmpty()) {
                throw text.problem(row.offset(column), "column without a name: column number=" + (column + 1));
            }
            if (!known.add(name)) {
                throw text.problem(row.offset(column), "two columns of the same name: column=" + name);
            }
            names.add(name);
        }
        return List.copyOf(names);
    }

    /** The library takes the end of the text for the closing quote: a cut-off file would pass. */
    private static void refuseOpenQuote(SourceText text, Row last) throws BadEventException {
        if (last.lastIsQuoted) {
            int offset = last.offset(last.size() - 1);
            String field = text.value().substring(offset);
            if (field.chars().filter(c -> c == QUOTE).count() % 2 != 0) {
                throw text.problem(offset, "quoted field without a closing quote");
            }
        }
    }

    /**
     * Collects one row after the other.
     *
     * <p>Threading: confined to one parse.
     */
    private static final class RowHandler extends AbstractBaseCsvCallbackHandler<Row> {
        private final List<String> fields = new ArrayList<>();
        private final List<Integer> offsets = new ArrayList<>();
        private boolean lastIsQuoted;

        long line() {
            return getStartingLineNumber();
        }

        @Override
        protected void handleBegin(long startingLineNumber) {
            fields.clear();
            offsets.clear();
        }

        /** The library reads a text in one buffer, so the offset there is the offset in the text. */
        @Override
        protected void handleField(int index, char[] buffer, int offset, int length, boolean quoted) {
            fields.add(length == 0 ? "" : new String(buffer, offset, length));
            offsets.add(quoted ? offset - 1 : offset);
            lastIsQuoted = quoted;
        }

        @Override
        protected @Nullable Row buildRecord() {
            return fields.isEmpty() ? null : new Row(fields, offsets, lastIsQuoted);
        }
    }
}
