package io.tabletrelay.plugins.csv;

import io.tabletrelay.api.serializer.BadEventException;
import io.tabletrelay.api.serializer.EventSerializer;
import io.tabletrelay.api.serializer.PayloadSink;
import io.tabletrelay.api.serializer.SerializerContext;
import io.tabletrelay.api.serializer.SourceEvent;
import io.tabletrelay.api.tablet.TabletFamily;

/**
 * A header row and rows, in UTF-8, fields separated by commas and quoted where they must be, become tablets of
 * {@code rows} rows each, or with {@code to=json} one JSON object per row. A header alone becomes nothing.
 *
 * <p>The column {@code time}, by default the first, is the row's time, see {@link TimeParser}; in JSON it is a member of
 * that name, in milliseconds since the epoch. Types are declared with {@code types=column:type,...} or inferred from all
 * rows of the request: numbers are DOUBLE, so that parts of one file agree, true and false BOOLEAN, all else STRING;
 * STRING too where every field is empty, and for numbers that a DOUBLE would change; in tablets of family v1 TEXT stands
 * for STRING, which its older readers do not know. Declare the types where parts could still differ. An empty field, quoted or not, is null. In a FLOAT or DOUBLE, {@code NaN} is a number; in JSON it is null.
 *
 * <p>Further options: {@code tablet-format} is the tablets' {@link TabletFamily}; {@code device} names the tablets' device, by default it is the pipe's name; {@code zone} is where
 * times without an offset are from, by default UTC.
 *
 * <p>Threading: thread-safe, provided it is opened before threads share it.
 */
public final class CsvSerializer implements EventSerializer {
    private static final String JSON = "application/json";

    private int maxPayloads = Integer.MAX_VALUE;

    @Override
    public int spiVersion() {
        return SPI_VERSION;
    }

    @Override
    public String sourceType() {
        return "csv";
    }

    @Override
    public boolean threadSafe() {
        return true;
    }

    @Override
    public void open(SerializerContext context) {
        maxPayloads = context.maxPayloads();
    }

    @Override
    public void serialize(SourceEvent event, PayloadSink sink) throws BadEventException {
        CsvOptions options = CsvOptions.of(event);
        CsvTable table = CsvTable.of(SourceText.decode(event.bytes()));
        if (options.target() == CsvOptions.Target.JSON) {
            CsvSchema schema = CsvSchema.of(table, options, maxPayloads);
            table.forEachRow(row -> sink.add(JSON, schema.json(row)));
        } else {
            CsvSchema schema = CsvSchema.of(table, options, (long) maxPayloads * options.rowsPerTablet());
            TabletRows rows = new TabletRows(schema, options, sink);
            table.forEachRow(rows);
            rows.flush();
        }
    }
}
