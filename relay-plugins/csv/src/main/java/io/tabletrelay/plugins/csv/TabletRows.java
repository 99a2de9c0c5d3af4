package io.tabletrelay.plugins.csv;

import io.tabletrelay.api.serializer.BadEventException;
import io.tabletrelay.api.serializer.PayloadSink;
import io.tabletrelay.api.tablet.Tablet;
import io.tabletrelay.api.tablet.TabletCodec;

/**
 * Collects rows and adds a tablet to the sink whenever there are enough.
 *
 * <p>Threading: confined to the thread that serializes.
 */
final class TabletRows implements CsvTable.RowVisitor {
    private final CsvSchema schema;
    private final CsvOptions options;
    private final PayloadSink sink;
    private final TabletCodec codec;
    private Tablet.Builder tablet;
    private int rows;

    TabletRows(CsvSchema schema, CsvOptions options, PayloadSink sink) {
        this.schema = schema;
        this.options = options;
        this.sink = sink;
        this.codec = new TabletCodec(options.family());
        this.tablet = schema.tablet(options.device());
    }

    @Override
    public void visit(CsvTable.Row row) throws BadEventException {
        tablet.row(schema.time(row), schema.values(row));
        rows++;
        if (rows == options.rowsPerTablet()) {
            flush();
        }
    }

    /** Adds the rows that are left. */
    void flush() {
        if (rows > 0) {
            sink.add(options.family().contentType(), codec.encode(tablet.build()));
            tablet = schema.tablet(options.device());
            rows = 0;
        }
    }
}
